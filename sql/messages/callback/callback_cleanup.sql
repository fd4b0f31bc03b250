-- Cleanup of callbacks: updates are deleted after callback.retention_days; inbound messages are
-- erased and contacts deleted after message.retention_days, and so is the content of updates.
-- Opt-outs stay.

create function outbox.forget_updates(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_update_age interval :=
    pg_catalog.make_interval(days => outbox.setting_int('callback.retention_days'));
  v_content_age interval :=
    pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_deleted integer;
  v_erased integer := 0;
begin
  delete from outbox.whatsapp_update u where u.id = any (array(
    select o.id from outbox.whatsapp_update o
    where o.received_at < p_now - v_update_age
    order by o.received_at limit p_limit for update skip locked));
  get diagnostics v_deleted = row_count;
  if v_content_age < v_update_age then
    update outbox.whatsapp_update u set
      data = '{}', wamid = null, wa_id = null, user_id = null, callback_data = null
    where u.id = any (array(
      select o.id from outbox.whatsapp_update o
      where o.received_at < p_now - v_content_age and o.data <> '{}'
      order by o.received_at limit p_limit for update skip locked));
    get diagnostics v_erased = row_count;
  end if;
  -- The transactions of update and message may not have seen each other; the id is there now.
  update outbox.whatsapp_update u set next_check_at = p_now
  where u.next_check_at = 'infinity' and u.received_at > p_now - interval '2 days' and exists (
    select from outbox.message_attempt a
    where a.phone_number_id = u.phone_number_id and a.wamid = u.wamid);
  perform outbox.forget_app_secrets(p_now);
  return greatest(v_deleted, v_erased);
end
$$;
comment on function outbox.forget_updates(timestamptz, integer) is
  'Deletes up to p_limit updates older than callback.retention_days. If message.retention_days is '
  'shorter, erases all but the key of up to p_limit updates older than that. Returns the larger '
  'of the two numbers.';

create function outbox.erase_inbound(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_before timestamptz :=
    p_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_erased integer;
  v_deleted integer;
begin
  update outbox.inbound_message m set
    wamid = null, contact_id = null, text = null, payload = '{}', erased_at = p_now
  where m.id = any (array(
    select o.id from outbox.inbound_message o
    where o.erased_at is null and o.received_at < v_before
    order by o.received_at limit p_limit for update skip locked));
  get diagnostics v_erased = row_count;
  delete from outbox.whatsapp_contact c where c.id = any (array(
    select o.id from outbox.whatsapp_contact o
    where o.last_seen_at < v_before order by o.last_seen_at limit p_limit for update skip locked));
  get diagnostics v_deleted = row_count;
  delete from outbox.conversation_window w
  where w.expires_at < p_now - interval '1 day' and w.ctid = any (array(
    select o.ctid from outbox.conversation_window o
    where o.expires_at < p_now - interval '1 day' limit p_limit));
  -- A lifted opt-out is only needed against late callbacks.
  delete from outbox.opt_out d
  where d.lifted and d.decided_at < p_now - interval '60 days' and d.ctid = any (array(
    select o.ctid from outbox.opt_out o
    where o.lifted and o.decided_at < p_now - interval '60 days' limit p_limit));
  return greatest(v_erased, v_deleted);
end
$$;
comment on function outbox.erase_inbound(timestamptz, integer) is
  'Erases text, payload and ids of up to p_limit inbound messages older than '
  'message.retention_days, and deletes up to p_limit contacts that have not written since. '
  'Returns the larger of the two numbers.';

-- Erasing rewrites each row, so a transaction handles at most 10,000.
insert into outbox.cleanup_step (name, calls, most) values
  ('updates', 'outbox.forget_updates', null),
  ('inbound', 'outbox.erase_inbound', 10000);
