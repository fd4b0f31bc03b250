-- Cleanup of callbacks: updates are deleted after callback.retention_days; inbound messages are
-- erased after message.retention_days, and so is the content of updates. erase_people() erases
-- people.

create function outbox.forget_updates(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_task constant text := 'outbox.forget_updates';
  v_table constant regclass := 'outbox.whatsapp_update';
  v_update_age interval :=
    pg_catalog.make_interval(days => outbox.setting_int('callback.retention_days'));
  v_content_age interval :=
    pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_deleted integer;
  v_erased integer := 0;
begin
  v_deleted := outbox.change_rows(v_task, v_table,
    'delete from outbox.whatsapp_update u where u.ctid = any ($1)',
    array(
      select o.ctid from outbox.whatsapp_update o
      where o.received_at < p_now - v_update_age
      order by o.received_at limit p_limit for update skip locked),
    p_now);
  if v_content_age < v_update_age then
    v_erased := outbox.change_rows(v_task, v_table, $erase$
        update outbox.whatsapp_update u set
          data = '{}', wamid = null, wa_id = null, user_id = null, callback_data = null
        where u.ctid = any ($1)
      $erase$,
      array(
        select o.ctid from outbox.whatsapp_update o
        where o.received_at < p_now - v_content_age and o.data <> '{}'
        order by o.received_at limit p_limit for update skip locked),
      p_now);
  end if;
  -- The transactions of update and message may not have seen each other; the id is there now.
  perform outbox.change_rows(v_task, v_table,
    'update outbox.whatsapp_update u set next_check_at = $2 '
      'where u.ctid = any ($1) and u.next_check_at = ''infinity''',
    array(
      select u.ctid from outbox.whatsapp_update u
      where u.next_check_at = 'infinity' and u.received_at > p_now - interval '2 days'
        and exists (
          select from outbox.message_attempt a
          where a.phone_number_id = u.phone_number_id and a.wamid = u.wamid)),
    p_now);
  -- callback_time() accepts the time of a status up to this age.
  perform outbox.change_rows(v_task, 'outbox.deleted_channel',
    'delete from outbox.deleted_channel d where d.ctid = any ($1)',
    array(
      select o.ctid from outbox.deleted_channel o
      where o.deleted_at < p_now - interval '60 days' limit p_limit),
    p_now);
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
  v_task constant text := 'outbox.erase_inbound';
  v_before timestamptz :=
    p_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_erased integer;
begin
  v_erased := outbox.change_rows(v_task, 'outbox.inbound_message', $erase$
      update outbox.inbound_message m set
        erased_at = $2, wamid = null, person_id = null, text = null, payload = '{}'
      where m.ctid = any ($1)
    $erase$,
    array(
      select o.ctid from outbox.inbound_message o
      where o.erased_at is null and o.received_at < v_before
      order by o.received_at limit p_limit for update skip locked),
    p_now);
  perform outbox.change_rows(v_task, 'outbox.conversation_window', $delete$
      delete from outbox.conversation_window w
      where w.ctid = any ($1) and w.expires_at < $2 - interval '1 day'
    $delete$,
    array(
      select o.ctid from outbox.conversation_window o
      where o.expires_at < p_now - interval '1 day' limit p_limit),
    p_now);
  return v_erased;
end
$$;
comment on function outbox.erase_inbound(timestamptz, integer) is
  'Erases text, payload and ids of up to p_limit inbound messages older than '
  'message.retention_days, and deletes windows that have ended; returns how many it has erased.';

-- Erasing rewrites each row, so a transaction handles at most 10,000.
insert into outbox.cleanup_step (name, calls, most) values
  ('updates', 'outbox.forget_updates', null),
  ('inbound', 'outbox.erase_inbound', 10000);
