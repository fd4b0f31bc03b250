-- The inbox of a consumer. Delivery is at least once, so an event may be redelivered. The inbox
-- stores the ids of the processed events, so that a consumer processes each event once.

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('inbox.retention_days', '40', 'integer', 2, 3650,
    'How long a consumer remembers the ids of processed events: longer than event.retention_days, '
    'because a later attempt would be processed twice');

insert into outbox.setting_rule (less, more, spare, problem) values
  ('event.retention_days', 'inbox.retention_days', -1,
    'would let a consumer delete the id of an event (inbox.retention_days) that may still be '
    'redelivered (event.retention_days), and process it twice');

create table outbox.consumer_inbox (
  consumer text not null,
  event_id text not null,
  accepted_at timestamptz not null,
  primary key (consumer, event_id)
);
comment on table outbox.consumer_inbox is
  'The processed events of each consumer. Stored for inbox.retention_days: longer than an event '
  'can be redelivered.';
create index consumer_inbox_age on outbox.consumer_inbox (accepted_at);

create function outbox.accept_once(p_consumer text, p_event_id text) returns boolean
language plpgsql security definer set search_path = ''
as $$
begin
  if p_consumer is null or p_consumer !~ '^[A-Za-z0-9_.:-]{1,64}$' then
    perform outbox.invalid('consumer',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_consumer, 80))),
      'Expected 1 to 64 letters, digits, _ . : -, such as billing');
  end if;
  if coalesce(pg_catalog.length(p_event_id), 0) not between 1 and 255 then
    perform outbox.invalid('event_id', 'is not 1 to 255 characters long',
      'Expected the id that came with the event: the header webhook-id, or the message id');
  end if;
  insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
  values (p_consumer, p_event_id, outbox.clock())
  on conflict do nothing;
  return found;
end
$$;
comment on function outbox.accept_once(text, text) is
  'True the first time a consumer receives this event, then false. Call it in the transaction '
  'that processes the event: a concurrent call for the same event waits for that transaction, and '
  'returns true if it is rolled back. Under REPEATABLE READ the concurrent call may get a '
  'serialization failure instead of false: repeat the transaction. OH001.';

create function outbox.forget_accepted(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_accepted', 'outbox.consumer_inbox',
    'delete from outbox.consumer_inbox i where i.ctid = any ($1)',
    array(
      select o.ctid from outbox.consumer_inbox o
      where o.accepted_at
        < p_now - pg_catalog.make_interval(days => outbox.setting_int('inbox.retention_days'))
      order by o.accepted_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_accepted(timestamptz, integer) is
  'Deletes up to p_limit events older than inbox.retention_days from the inbox; returns how many.';

insert into outbox.cleanup_step (name, calls) values
  ('accepted', 'outbox.forget_accepted');
