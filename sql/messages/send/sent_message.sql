-- A message that WhatsApp has accepted: by its response to a run, or by the id in a late response
-- if the first one was lost. It is not sent again.

create function outbox.mark_sent(
  p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- If a provider returns an id twice, a unique violation would undo the results of the whole call.
  if exists (
    select from outbox.message_attempt a
    where a.phone_number_id = p_attempt.phone_number_id and a.wamid = p_wamid
      and a.id <> p_attempt.id)
  then
    p_wamid := null;
  end if;
  update outbox.message_attempt a set
    status = 'SUCCESS', wamid = coalesce(p_wamid, a.wamid), taken_at = coalesce(a.taken_at, p_now),
    provider_response = coalesce(p_provider, a.provider_response), updated_at = p_now,
    error_code = null, error_message = null, next_retry_at = null
  where a.id = p_attempt.id;
  update outbox.outbound_message m set wa_id = p_provider ->> 'wa_id'
  where m.id = p_attempt.message_id and p_provider ->> 'wa_id' <> coalesce(m.wa_id, '');
  perform outbox.judge_messages(array[p_attempt.message_id], p_now);
end
$$;
comment on function outbox.mark_sent(outbox.message_attempt, text, jsonb, timestamptz) is
  'Records that WhatsApp accepted an attempt, and judges its message. locks: the caller holds the '
  'message.';

create function outbox.callback_data(p_message_id bigint, p_attempt_no integer) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.format('ob1:%s:%s', p_message_id, p_attempt_no);
end
$$;
comment on function outbox.callback_data(bigint, integer) is
  'The identifier of an attempt that WhatsApp returns in each status.';

create function outbox.mark_sent_late(p_callback_data text, p_wamid text) returns text
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_name text[] := pg_catalog.regexp_match(p_callback_data, '^ob1:([0-9]{1,18}):([0-9]{1,9})$');
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
begin
  select * into v_message from outbox.outbound_message m where m.id = v_name[1]::bigint;
  if not found then
    return 'unknown';
  end if;
  perform outbox.lock_gates(array[v_message.channel_id]);
  select * into v_message from outbox.outbound_message m
  where m.id = v_message.id for update;
  select * into v_attempt from outbox.message_attempt a
  where a.message_id = v_message.id and a.attempt_no = v_name[2]::integer;
  if not found then
    return 'unknown';
  elsif v_attempt.wamid is not null then
    return case when v_attempt.wamid = p_wamid then 'known' else 'unknown' end;
  end if;
  perform outbox.mark_sent(v_attempt, p_wamid, null, v_now);
  perform outbox.close_needless_retries(array[v_message.id], v_now);
  return 'adopted';
end
$$;
comment on function outbox.mark_sent_late(text, text) is
  'Stores the id of WhatsApp with an attempt, which p_callback_data identifies. The message is '
  'SENT and its pending retry is closed, so that a lost response causes no second message. '
  'Returns adopted, known (it already has that id) or unknown. locks: the gate, then the message.';
