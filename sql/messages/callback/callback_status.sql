-- Statuses: what became of a try. Facts first: each try keeps the earliest time at which WhatsApp
-- says that it was sent, delivered, read or failed, which comes out the same in whatever order the
-- updates come; the message's status follows from the facts of its newest try. DELIVERED, FAILED
-- and CANCELLED are final. Of a try that both failed and was delivered, the first word stands.
--
-- The gates of messages that wait for a retry are locked first, for that retry is closed here. One
-- that is being sent needs none: its lease stands, and its result finds the message changed.

create function outbox.apply_statuses(
  p_ids bigint[], p_now timestamptz
) returns outbox.opt_out_change[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_messages bigint[];
  v_gates uuid[];
  v_changes outbox.status_change[];
  v_moves outbox.changed_message[];
begin
  v_messages := array(
    select distinct u.message_id
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.update_status in ('stored', 'kept') and u.message_id is not null
    order by u.message_id);
  v_gates := array(
    select distinct m.channel_id
    from pg_catalog.unnest(v_messages) i
    cross join lateral (select x.* from outbox.outbound_message x where x.id = i offset 0) m
    where m.status = 'QUEUED');
  if pg_catalog.cardinality(v_gates) > 0 then
    perform outbox.lock_gates(v_gates);
  end if;
  perform from pg_catalog.unnest(v_messages) i
  cross join lateral (
    select from outbox.outbound_message m where m.id = i for no key update
  ) m;
  v_changes := outbox.classify_statuses(p_ids, v_gates);
  perform outbox.save_statuses(v_changes, p_now);
  v_moves := outbox.update_message_statuses(array(
    select distinct c.message_id from pg_catalog.unnest(v_changes) c where c.is_new
    order by c.message_id), p_now);
  perform outbox.record_statuses(v_changes, v_moves, p_now);
  perform outbox.close_retries(v_moves, p_now);
  perform outbox.save_verdicts(
    array(select c.update_id from pg_catalog.unnest(v_changes) c),
    array(select c.update_status from pg_catalog.unnest(v_changes) c),
    array(select c.reason from pg_catalog.unnest(v_changes) c), p_now);
  return outbox.apply_failure_rules(v_changes, p_now);
end
$$;
comment on function outbox.apply_statuses(bigint[], timestamptz) is
  'Applies the statuses among stored updates, and returns what they say that people want. locks: '
  'the gates of messages that wait for a retry, by id, then messages by id.';

create function outbox.close_retries(
  p_moves outbox.changed_message[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_delivery outbox.delivery;
begin
  for v_delivery in
    select d.*
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.* from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    cross join lateral (
      select o.* from outbox.delivery o
      where o.event_id = m.event_id and o.endpoint_id = m.channel_id offset 0
    ) d
    where x.was = 'QUEUED' and d.leased_until is null
    order by m.id
  loop
    perform outbox.close_delivery(v_delivery, 'cancelled',
      'its callback says what became of the attempt before', p_now);
  end loop;
end
$$;
comment on function outbox.close_retries(outbox.changed_message[], timestamptz) is
  'Closes the pending retries of messages that callbacks took further. The caller holds the gates.';
