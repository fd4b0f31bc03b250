-- Views with the names, columns and statuses of other outboxes, so that code for one of these runs
-- without changes. FOR UPDATE is accepted: below the views is a union, and Postgres locks no row of
-- a union. An insert publishes (operations/publish_inserted).

create view outbox.webhook_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload, pg_catalog.upper(r.stage) as status, r.next_retry_at,
  r.retry_count, r.last_error, r.last_attempt_at,
  case when r.stage = 'delivered' then r.finished_at end as delivered_at, r.created_at,
  r.endpoint_id
from outbox.relay_status r;
comment on view outbox.webhook_outbox is
  'The outbox as one table of webhooks: PENDING, PROCESSING, DELIVERED, FAILED (waits for its '
  'retry, also if it is held), DEAD_LETTER; and FILTER_ERROR, CANCELLED, NO_SUBSCRIBER, '
  'EVENT_MISSING. An insert of (event_type, payload) publishes an event; it may also have '
  'next_retry_at, the time of the first attempt, and endpoint_id, the only endpoint.';
comment on column outbox.webhook_outbox.id is 'The event.';
comment on column outbox.webhook_outbox.event_type is
  'The type of the event. Null: the event is no longer stored.';
comment on column outbox.webhook_outbox.payload is
  'The payload of the event, byte for byte. Null: the event is no longer stored.';
comment on column outbox.webhook_outbox.status is 'Its status: see the comment on the view.';
comment on column outbox.webhook_outbox.next_retry_at is
  'When the next attempt is due, also the first one. Null: it has ended, or waits for a person.';
comment on column outbox.webhook_outbox.retry_count is
  'How many attempts have failed since the creation or the last replay. An attempt that found '
  'no broker does not count.';
comment on column outbox.webhook_outbox.last_error is
  'The error of the last attempt that failed, or why it ended without a response.';
comment on column outbox.webhook_outbox.last_attempt_at is
  'When the last attempt since the creation or the last replay was made.';
comment on column outbox.webhook_outbox.delivered_at is 'When it was delivered. Null: it is not.';
comment on column outbox.webhook_outbox.created_at is 'When the event was published.';
comment on column outbox.webhook_outbox.endpoint_id is
  'The endpoint that gets the event. Null: the event is not routed yet, or nobody was '
  'subscribed.';

create view outbox.saga_outbox with (security_invoker = true) as
select r.id as event_id, r.correlation_id as saga_id, r.event_type, r.payload,
  case r.stage
    when 'processing' then 'CLAIMED'
    when 'delivered' then 'SENT'
    else pg_catalog.upper(r.stage)
  end as status,
  r.retry_count, r.last_error, r.next_retry_at, r.created_at, r.endpoint_id
from outbox.relay_status r;
comment on view outbox.saga_outbox is
  'The outbox as the events of sagas: PENDING, CLAIMED, SENT, FAILED (waits for its retry, also if '
  'it is held), DEAD_LETTER; and FILTER_ERROR, CANCELLED, NO_SUBSCRIBER, EVENT_MISSING. An insert '
  'of (event_type, payload) publishes an event; it may also have saga_id, its correlation id, '
  'next_retry_at, the time of the first attempt, and endpoint_id, the only endpoint.';
comment on column outbox.saga_outbox.event_id is 'The event.';
comment on column outbox.saga_outbox.saga_id is
  'The correlation id of the publisher, such as the execution of a saga, or the id of the '
  'event.';
comment on column outbox.saga_outbox.event_type is
  'The type of the event. Null: the event is no longer stored.';
comment on column outbox.saga_outbox.payload is
  'The payload of the event, byte for byte. Null: the event is no longer stored.';
comment on column outbox.saga_outbox.status is 'Its status: see the comment on the view.';
comment on column outbox.saga_outbox.retry_count is
  'How many attempts have failed since the creation or the last replay. An attempt that found '
  'no broker does not count.';
comment on column outbox.saga_outbox.last_error is
  'The error of the last attempt that failed, or why it ended without a response.';
comment on column outbox.saga_outbox.next_retry_at is
  'When the next attempt is due, also the first one. Null: it has ended, or waits for a person.';
comment on column outbox.saga_outbox.created_at is 'When the event was published.';
comment on column outbox.saga_outbox.endpoint_id is
  'The endpoint that gets the event. Null: the event is not routed yet, or nobody was '
  'subscribed.';

create view outbox.transaction_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload, r.partition_key,
  case r.stage
    when 'delivered' then 'processed'
    when 'dead_letter' then 'dlq'
    else r.stage
  end as status,
  r.correlation_id, r.retry_count, r.max_retries, r.last_error, r.next_retry_at, r.created_at,
  r.endpoint_id
from outbox.relay_status r;
comment on view outbox.transaction_outbox is
  'The outbox of a relay to a broker: pending, processing, processed, failed (waits for its retry, '
  'also if it is held), dlq; and filter_error, cancelled, no_subscriber, event_missing. An insert '
  'of (event_type, payload) publishes an event; it may also have partition_key, correlation_id, '
  'next_retry_at, the time of the first attempt, and endpoint_id, the only endpoint.';
comment on column outbox.transaction_outbox.id is 'The event.';
comment on column outbox.transaction_outbox.event_type is
  'The type of the event. Null: the event is no longer stored.';
comment on column outbox.transaction_outbox.payload is
  'The payload of the event, byte for byte. Null: the event is no longer stored.';
comment on column outbox.transaction_outbox.partition_key is 'The partition key of the publisher.';
comment on column outbox.transaction_outbox.status is 'Its status: see the comment on the view.';
comment on column outbox.transaction_outbox.correlation_id is
  'The correlation id of the publisher, or the id of the event.';
comment on column outbox.transaction_outbox.retry_count is
  'How many attempts have failed since the creation or the last replay. An attempt that found '
  'no broker does not count.';
comment on column outbox.transaction_outbox.max_retries is
  'How many attempts the endpoint allows, with the first one.';
comment on column outbox.transaction_outbox.last_error is
  'The error of the last attempt that failed, or why it ended without a response.';
comment on column outbox.transaction_outbox.next_retry_at is
  'When the next attempt is due, also the first one. Null: it has ended, or waits for a person.';
comment on column outbox.transaction_outbox.created_at is 'When the event was published.';
comment on column outbox.transaction_outbox.endpoint_id is
  'The endpoint that gets the event. Null: the event is not routed yet, or nobody was '
  'subscribed.';
