create function outbox.erase_messages(p_limit integer) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  return outbox.change_rows('outbox.erase_outbound', 'outbox.outbound_message', $erase$
      with erased as (
        update outbox.outbound_message m set
          erased_at = $2, to_recipient = 'erased', payload_json = '{}',
          provider_message_id = null, wa_id = null, recipient_hash = null
        where m.ctid = any ($1)
        returning m.id
      )
      update outbox.message_attempt a set wamid = null, provider_response = null
      from erased e
      where a.message_id = e.id
    $erase$,
    array(
      select m.ctid from outbox.outbound_message m
      where m.erased_at is null
        and m.created_at
          < v_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'))
        and m.status in ('SENT', 'DELIVERED', 'FAILED', 'CANCELLED')
      order by m.created_at
      limit p_limit
      for update skip locked),
    v_now);
end
$$;
comment on function outbox.erase_messages(integer) is
  'Erases payload, number and WhatsApp''s ids of up to p_limit finished messages older than '
  'message.retention_days; returns how many. Status, times and audit trail stay.';

create function outbox.erase_outbound(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return case when p_now is not null then outbox.erase_messages(p_limit) end;
end
$$;
comment on function outbox.erase_outbound(timestamptz, integer) is
  'Step of the cleanup: calls erase_messages().';

-- Erasing rewrites each row, so a transaction handles at most 10,000.
insert into outbox.cleanup_step (name, calls, most) values
  ('messages', 'outbox.erase_outbound', 10000);
