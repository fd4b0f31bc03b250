-- Statuses that the provider of another channel than WhatsApp reports. The module of the channel
-- calls this function, as messages/callback does for WhatsApp. As there, an attempt stores the
-- earliest time of each status, and if it is reported as both failed and delivered, the first
-- report counts.

create function outbox.report_status(
  p_channel_id uuid, p_provider_id text, p_status text, p_at timestamptz default null,
  p_code text default null, p_error text default null
) returns text
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_at timestamptz := least(coalesce(p_at, v_now), v_now);
  v_attempt outbox.message_attempt;
  v_message outbox.outbound_message;
begin
  perform outbox.check_choice('status', p_status, array['delivered', 'read', 'failed']);
  -- Before the look: the call that records the id holds the gate too.
  perform outbox.lock_gates(array[p_channel_id]);
  select a.* into v_attempt from outbox.message_channel c
  join outbox.message_attempt a on a.phone_number_id = c.account and a.wamid = p_provider_id
  -- Two channels may have one account at the provider.
  join outbox.outbound_message m on m.id = a.message_id and m.channel_id = c.endpoint_id
  where c.endpoint_id = p_channel_id;
  if not found then
    perform outbox.keep_report(p_channel_id, p_provider_id, p_status, v_at, p_code, p_error, v_now);
    return 'unknown';
  end if;
  select * into v_message from outbox.outbound_message m
  where m.id = v_attempt.message_id for update;
  select * into v_attempt from outbox.message_attempt a where a.id = v_attempt.id;
  update outbox.message_attempt a set
    delivered_at = case
      when p_status = 'delivered' and a.failed_at is null then least(a.delivered_at, v_at)
      else a.delivered_at
    end,
    read_at = case
      when p_status = 'read' and a.failed_at is null then least(a.read_at, v_at)
      else a.read_at
    end,
    arrived_at = case when p_status = 'failed' then a.arrived_at else least(a.arrived_at, v_at) end,
    failed_at = case
      when p_status = 'failed' and a.arrived_at is null then coalesce(a.failed_at, v_at)
      else a.failed_at
    end,
    updated_at = v_now
  where a.id = v_attempt.id;
  update outbox.message_attempt a set
    status = 'FAILED', error_code = p_code, error_message = coalesce(p_error, 'failed')
  where a.id = v_attempt.id and a.failed_at is not null and v_attempt.failed_at is null;
  perform outbox.judge_messages(array[v_message.id], v_now);
  perform outbox.record_reported(v_message.id, v_attempt, p_status, v_at,
    case when p_status = 'failed' then p_code end, case when p_status = 'failed' then p_error end,
    v_now);
  perform outbox.close_needless_retries(array[v_message.id], v_now);
  return (select m.status from outbox.outbound_message m where m.id = v_message.id);
end
$$;
comment on function outbox.report_status(uuid, text, text, timestamptz, text, text) is
  'Stores that the provider of a channel reports an attempt, by the id of the provider, as '
  'delivered, read or failed, and judges its message. Returns the status of the message, or '
  'unknown if no attempt of the channel has this id: the response with the id may not be recorded '
  'yet. Such a report is stored for a day, and applied with the response. A repeat changes '
  'nothing. OH001. locks: the gate, then the message.';

create function outbox.record_reported(
  p_message_id bigint, p_before outbox.message_attempt, p_status text, p_at timestamptz,
  p_code text, p_error text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_known timestamptz := case
    when p_status = 'failed' then coalesce(p_before.failed_at, p_before.arrived_at)
    when p_before.failed_at is not null then p_before.arrived_at
    when p_status = 'delivered' then p_before.delivered_at
    else p_before.read_at
  end;
  v_message outbox.outbound_message;
begin
  if v_known is not null then
    return;
  end if;
  select * into v_message from outbox.outbound_message m where m.id = p_message_id;
  perform outbox.audit_message(v_message, 'UPDATED',
    'Delivery status updated to: ' || p_status, null, p_now);
  perform outbox.add_activity(v_message, 'MESSAGE_STATUS_UPDATE',
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('deliveryStatus', p_status, 'at',
      outbox.iso_time(p_at), 'errorCode', p_code, 'error', p_error)), p_now);
end
$$;
comment on function outbox.record_reported(
  bigint, outbox.message_attempt, text, timestamptz, text, text, timestamptz) is
  'Adds the audit and activity rows of a reported status, unless it changes nothing: p_before is '
  'the attempt before it.';
