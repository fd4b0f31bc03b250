-- The inbox of a consumer. Delivery is at least once, so an event may come again: here stand the
-- ids that a consumer has processed, so that it does each of them once.

create table outbox.consumer_inbox (
  consumer text not null,
  event_id text not null,
  accepted_at timestamptz not null,
  primary key (consumer, event_id)
);
comment on table outbox.consumer_inbox is
  'What each consumer has processed. Kept for inbox.retention_days: longer than anything is sent '
  'again.';
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
  'True the first time that a consumer has this event, false ever after. Call it in the '
  'transaction that does the work: a second delivery waits for the first to end, and is accepted '
  'if that rolled back. Under REPEATABLE READ the second may get a serialization failure '
  'instead of false: repeat the transaction. OH001.';
