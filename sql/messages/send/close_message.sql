create function outbox.close_message(
  p_event_id uuid, p_outcome text, p_why text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_message outbox.outbound_message;
begin
  select * into v_message from outbox.outbound_message m
  where m.event_id = p_event_id and m.status = 'QUEUED' for update;
  if not found then
    return;
  end if;
  if p_outcome = 'cancelled' then
    v_message.status := 'CANCELLED';
    perform outbox.save_message(v_message, p_now);
    perform outbox.audit_message(v_message, 'CANCELLED',
      'Message cancelled: ' || p_why, null, p_now);
  else
    perform outbox.fail_message(v_message, p_outcome, p_why, p_now);
  end if;
end
$$;
comment on function outbox.close_message(uuid, text, text, timestamptz) is
  'Cancels or fails the QUEUED message of a closed delivery, if there is one. locks: the caller '
  'holds the gate; the message.';

create function outbox.fail_unsent(
  p_endpoint_id uuid, p_limit integer, p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_message outbox.outbound_message;
  v_failed integer := 0;
begin
  for v_message in
    select m.* from outbox.message_channel w
    cross join lateral (
      select * from outbox.outbound_message m
      where m.org_id = w.org_id and m.status in ('QUEUED', 'SENDING')
        and m.channel_id = p_endpoint_id
      order by m.id limit p_limit
    ) m
    where w.endpoint_id = p_endpoint_id
  loop
    perform outbox.fail_message(v_message, 'channel_deleted', 'The channel was deleted', p_now);
    v_failed := v_failed + 1;
  end loop;
  return v_failed;
end
$$;
comment on function outbox.fail_unsent(uuid, integer, timestamptz) is
  'Fails up to p_limit unsent messages of a deleted channel; returns how many. locks: the caller '
  'holds the gate; messages by id.';

create function outbox.forget_channel(p_endpoint_id uuid, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
declare
  v_channel outbox.whatsapp_channel;
begin
  delete from outbox.message_channel c where c.endpoint_id = p_endpoint_id;
  delete from outbox.whatsapp_channel w
  where w.endpoint_id = p_endpoint_id returning w.* into v_channel;
  if not found then
    return;
  end if;
  insert into outbox.deleted_channel (
    channel_id, org_id, phone_number_id, waba_id, app_id, deleted_at)
  values (v_channel.endpoint_id, v_channel.org_id, v_channel.phone_number_id, v_channel.waba_id,
    v_channel.app_id, p_now);
  delete from vault.secrets v where v.id = v_channel.token_vault_id;
  delete from outbox.conversation_window w where w.channel_id = p_endpoint_id;
  delete from outbox.channel_hold h where h.channel_id = p_endpoint_id;
end
$$;
comment on function outbox.forget_channel(uuid, timestamptz) is
  'Deletes the token, windows and holds of a deleted channel, and stores its ids for the statuses '
  'of its messages.';

create or replace function outbox.on_closed(
  p_event_id uuid, p_outcome text, p_why text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.close_message(p_event_id, p_outcome, p_why, p_now);
end
$$;

create or replace function outbox.on_purged(
  p_endpoint_id uuid, p_limit integer, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_failed integer := outbox.fail_unsent(p_endpoint_id, p_limit, p_now);
begin
  if v_failed < p_limit then
    perform outbox.forget_channel(p_endpoint_id, p_now);
  end if;
  return v_failed;
end
$$;
