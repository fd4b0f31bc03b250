-- Dead letters of brokers: a record that an endpoint could not publish goes to its dead-letter
-- topic, or to a queue of RabbitMQ. It is the delivery of a new event that is addressed to the
-- endpoint, so it is retried and recorded as any other. Such an event has no dead-letter record
-- itself.

create function outbox.fill_broker_template(
  p_template text, p_type text, p_org_id text, p_key text
) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- The key last, because it may contain a placeholder.
  return pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(p_template,
    '{type}', p_type), '{org}', p_org_id), '{key}', coalesce(p_key, ''));
end
$$;
comment on function outbox.fill_broker_template(text, text, text, text) is
  'The topic or routing key that a template gives for an event. '
  'functions/_shared/senders/broker/template.ts has the same rules.';

create function outbox.broker_target(
  p_letter outbox.dead_letter, p_endpoint outbox.endpoint
) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return outbox.fill_broker_template(
    coalesce(p_endpoint.config ->> 'topic', p_endpoint.config ->> 'routing_key'),
    p_letter.original_topic, p_letter.org_id, p_letter.partition_key);
end
$$;
comment on function outbox.broker_target(outbox.dead_letter, outbox.endpoint) is
  'The topic or the routing key to which a broker endpoint publishes the event of a dead letter '
  'now.';

create function outbox.dlq_message(
  p_letter outbox.dead_letter, p_endpoint outbox.endpoint
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_data text := p_letter.original_message;
begin
  -- Concatenated, because parsing the body as JSON could change its numbers.
  return '{"original_topic":' || pg_catalog.to_json(outbox.broker_target(p_letter, p_endpoint))
    || ',"original_message":' || case
      when p_endpoint.payload = 'data' then v_data
      else '{"id":"' || p_letter.event_id
        || '","eventType":' || pg_catalog.to_json(p_letter.original_topic)
        || ',"createdAt":"' || outbox.iso_time(p_letter.event_created_at)
        || '","correlationId":' || pg_catalog.to_json(p_letter.correlation_id)
        || ',"data":' || v_data || '}'
    end
    || ',"error":' || pg_catalog.to_json(p_letter.error)
    || ',"retry_count":' || p_letter.retry_count
    || ',"failed_at":"' || outbox.iso_time(p_letter.failed_at)
    || '","correlation_id":' || pg_catalog.to_json(p_letter.correlation_id)
    || ',"original_exchange":'
    || coalesce(pg_catalog.to_json(p_endpoint.config ->> 'exchange')::text, 'null')
    || ',"original_key":' || coalesce(pg_catalog.to_json(p_letter.partition_key)::text, 'null')
    || ',"idempotency_key":'
    || coalesce(pg_catalog.to_json(p_letter.idempotency_key)::text, 'null')
    || ',"event_id":"' || p_letter.event_id
    || '","event_type":' || pg_catalog.to_json(p_letter.original_topic)
    || ',"endpoint_id":"' || p_letter.endpoint_id || '"}';
end
$$;
comment on function outbox.dlq_message(outbox.dead_letter, outbox.endpoint) is
  'The record for the dead-letter topic: {"original_topic", "original_message": the record as it '
  'would have been published, "error", "retry_count", "failed_at", "correlation_id", '
  '"original_exchange", "original_key", "idempotency_key" (the publisher''s, or null), "event_id", '
  '"event_type", "endpoint_id"}.';

create function outbox.publish_dead_letters(
  p_events uuid[], p_endpoints uuid[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
-- Index lookups whatever the statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_at constant timestamptz := outbox.event_time();
  v_row record;
  v_id uuid;
  v_body text;
  v_lane outbox.lane;
begin
  for v_row in
    select x as letter, e as endpoint, g.id as gate_id
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select e from outbox.endpoint e
      where e.id = p.endpoint_id and e.kind in ('rabbitmq', 'kafka') and e.status <> 'deleted'
        and coalesce(e.config ->> 'dlq_topic', e.config ->> 'dlq_routing_key') is not null offset 0
    ) e
    cross join lateral (
      select x from outbox.dead_letter x
      where x.event_id = p.event_id and x.endpoint_id = p.endpoint_id
        and x.original_topic <> 'outhook.dead_letter' offset 0
    ) x
    cross join lateral (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
  loop
    v_id := outbox.uuid_v7(v_at);
    v_body := outbox.dlq_message(v_row.letter, v_row.endpoint);
    insert into outbox.event (
      id, org_id, type, body, partition_key, correlation_id, traceparent, endpoint_id, created_at)
    values (v_id, (v_row.letter).org_id, 'outhook.dead_letter', v_body,
      (v_row.letter).partition_key, (v_row.letter).correlation_id, (v_row.letter).traceparent,
      (v_row.letter).endpoint_id, v_at);
    -- Not the lane of its key: that lane may be held by this dead letter.
    v_lane := outbox.replay_lane(v_row.gate_id, 0);
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
    values (v_id, (v_row.letter).endpoint_id, v_lane.id, greatest(p_now, v_lane.head_at),
      pg_catalog.octet_length(v_body));
    update outbox.lane l set
      depth = l.depth + 1, next_at = least(l.next_at, greatest(p_now, v_lane.head_at))
    where l.id = v_lane.id;
    update outbox.gate g set depth = g.depth + 1 where g.id = v_row.gate_id;
  end loop;
end
$$;
comment on function outbox.publish_dead_letters(uuid[], uuid[], timestamptz) is
  'Creates a delivery to the dead-letter topic for each new dead letter of a broker endpoint that '
  'has one. locks: the caller holds the gates, and parks them.';

create or replace function outbox.on_dead_letters(
  p_events uuid[], p_endpoints uuid[], p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.publish_dead_letters(p_events, p_endpoints, p_now);
end
$$;
