-- Statuses: what WhatsApp reports about an attempt. Each attempt stores the earliest time at which
-- WhatsApp reports it as sent, delivered, read or failed, so the order of the updates does not
-- matter. judge_messages() then judges the message from all its attempts. If an attempt is reported
-- as both failed and delivered, the first report counts.
--
-- The gates of messages that wait for a retry or have failed are locked first, because the retry is
-- closed here, and the dead letter discarded. A message that is being sent needs no lock of its
-- gate: its lease stays, and its result finds the message changed.

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
    where m.status in ('QUEUED', 'FAILED'));
  if pg_catalog.cardinality(v_gates) > 0 then
    perform outbox.lock_gates(v_gates);
  end if;
  perform from pg_catalog.unnest(v_messages) i
  cross join lateral (
    select from outbox.outbound_message m where m.id = i for no key update
  ) m;
  v_changes := outbox.classify_statuses(p_ids, v_gates);
  perform outbox.save_statuses(v_changes, p_now);
  v_moves := outbox.judge_messages(array(
    select distinct c.message_id from pg_catalog.unnest(v_changes) c where c.is_new or c.arrives
    order by c.message_id), p_now);
  v_changes := outbox.judge_statuses(v_changes);
  perform outbox.record_statuses(v_changes, p_now);
  perform outbox.close_needless_retries(array(
    select x.message_id from pg_catalog.unnest(v_moves) x where x.was in ('QUEUED', 'FAILED')),
    p_now);
  perform outbox.save_verdicts(
    array(select c.update_id from pg_catalog.unnest(v_changes) c),
    array(select c.update_status from pg_catalog.unnest(v_changes) c),
    array(select c.reason from pg_catalog.unnest(v_changes) c), p_now);
  return outbox.apply_failure_rules(v_changes, p_now);
end
$$;
comment on function outbox.apply_statuses(bigint[], timestamptz) is
  'Applies the statuses of stored updates; returns the opt-outs that they cause. locks: the gates '
  'of messages that wait for a retry or have failed, by id, then messages by id.';
