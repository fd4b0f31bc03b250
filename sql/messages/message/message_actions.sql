-- Cancel and resend a message. Both lock the gate first, so that no run claims the message
-- meanwhile. They set idle_in_transaction_session_timeout to 2 s, because an abandoned transaction
-- would hold the lock of the gate.

create function outbox.lock_message(
  p_org_id text, p_message_id text
) returns outbox.outbound_message
language plpgsql set search_path = ''
as $$
declare
  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[v_message.channel_id]);
  select * into v_message from outbox.outbound_message m where m.id = v_message.id for update;
  return v_message;
end
$$;
comment on function outbox.lock_message(text, text) is
  'Locks a message of an organisation and returns it. OH002. locks: the gate, then the message.';

create function outbox.cancel_message(
  p_org_id text, p_message_id text, p_actor text default null, p_why text default null
) returns jsonb
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
  v_delivery outbox.delivery;
begin
  if v_message.status <> 'QUEUED' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id, v_message.status),
      hint = 'Cancel a message only while it is QUEUED';
  end if;
  v_message.status := 'CANCELLED';
  perform outbox.save_message(v_message, v_now);
  perform outbox.audit_message(v_message, 'CANCELLED',
    'Message cancelled' || coalesce(': ' || p_why, ''), p_actor, v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id;
  -- If there is no delivery yet, the claim finds the message cancelled.
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', 'the message was cancelled', v_now);
  end if;
  return outbox.get_message(p_org_id, p_message_id);
end
$$;
comment on function outbox.cancel_message(text, text, text, text) is
  'Cancels a QUEUED message and returns it. OH002; OH004: the message has another status.';

create function outbox.resend_message(
  p_org_id text, p_message_id text, p_actor text default null, p_force boolean default false
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_event_at timestamptz;
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
begin
  if v_message.status <> 'FAILED' or v_message.erased_at is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id,
        case when v_message.erased_at is null then v_message.status else 'erased' end),
      hint = 'Resend a message only after it is FAILED and before it is erased';
  end if;
  if v_message.delivered_at is not null and p_force is not true then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s was delivered, although it is FAILED', p_message_id),
      hint = 'Resend it with force if the recipient needs a second copy';
  end if;
  if exists (
    select from outbox.delivery d
    where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id)
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is being sent again', p_message_id),
      hint = 'Its dead letter was replayed: wait for the result';
  end if;
  update outbox.dead_letter x set discarded_at = v_now, note = 'the message was sent again'
  where x.event_id = v_message.event_id and x.endpoint_id = v_message.channel_id
    and x.discarded_at is null;
  v_message.status := 'QUEUED';
  v_message.attempt_count := 0;
  v_message.provider_message_id := null;
  v_message.error_code := null;
  v_message.error_message := null;
  v_message.sent_at := null;
  v_event_at := outbox.event_time();
  v_message.event_id := outbox.uuid_v7(v_event_at);
  perform outbox.save_message(v_message, v_now);
  perform outbox.publish_message(v_message,
    (outbox.lane_keys_of(p_org_id, v_message.to_recipient))[1], v_event_at);
  perform outbox.audit_message(v_message, 'UPDATED',
    'Sent again by ' || coalesce(p_actor, 'an operator'), p_actor, v_now);
  return outbox.get_message(p_org_id, p_message_id);
end
$$;
comment on function outbox.resend_message(text, text, text, boolean) is
  'Queues a FAILED message again with all its retries, after the waiting messages of its '
  'recipient, and returns it. The claim checks consent again. OH002; OH004: it is not FAILED, or '
  'erased, or WhatsApp reports that it arrived after all and p_force is false.';
