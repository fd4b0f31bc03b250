-- Statuses: what WhatsApp reports about an attempt. Each attempt stores the earliest time at which
-- WhatsApp reports it as sent, delivered, read or failed, so the order of the updates does not
-- matter. The status of the message follows from the times of its newest attempt. DELIVERED, FAILED
-- and CANCELLED are final. If an attempt is reported as both failed and delivered, the first report
-- counts.
--
-- The gates of messages that wait for a retry are locked first, because that retry is closed here.
-- A message that is being sent needs no lock of its gate: its lease stays, and its result finds the
-- message changed.

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
  'Applies the statuses of stored updates; returns the opt-outs that they cause. locks: the gates '
  'of messages that wait for a retry, by id, then messages by id.';

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
      'its callback reports the previous attempt', p_now);
  end loop;
end
$$;
comment on function outbox.close_retries(outbox.changed_message[], timestamptz) is
  'Closes the pending retries of messages whose status a callback changed. The caller holds the '
  'gates.';
