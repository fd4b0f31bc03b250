-- Effects of the results of a run on messages, in the transaction that applies the results to
-- deliveries. Lock order: the gates, which the caller holds, then messages by id. message_claim has
-- the effects of a claim.

create function outbox.complete_messages(
  p_results outbox.result[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_result outbox.result;
begin
  for v_result in
    select r.event, r.endpoint, r.attempt, r.outcome, r.status, r.error_class, r.error, r.code,
      r.retry_after, r.duration_ms, r.response, r.lossy, r.provider_id, r.provider, r.cut
    from pg_catalog.unnest(p_results) with ordinality as r (event, endpoint, attempt, outcome,
      status, error_class, error, code, retry_after, duration_ms, response, lossy, provider_id,
      provider, cut, place)
    join outbox.whatsapp_channel w on w.endpoint_id = r.endpoint
    join outbox.message_attempt a on a.event_id = r.event and a.claim = r.attempt
    order by a.message_id, r.place
  loop
    perform outbox.complete_message(v_result, p_now);
  end loop;
  perform outbox.apply_waiting_updates(p_results, p_now);
  perform outbox.link_answers(p_results, p_now);
  perform outbox.save_response_opt_outs(p_results, p_now);
end
$$;
comment on function outbox.complete_messages(outbox.result[], timestamptz) is
  'Applies results to their messages, after they were applied to the deliveries. locks: messages '
  'by id, then people, as join_people().';

create function outbox.complete_message(p_result outbox.result, p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
  v_delivery_attempt outbox.attempt;
begin
  select m.* into v_message from outbox.message_attempt a
  join outbox.outbound_message m on m.id = a.message_id
  where a.event_id = p_result.event and a.claim = p_result.attempt for update of m;
  select * into v_attempt from outbox.message_attempt a
  where a.event_id = p_result.event and a.claim = p_result.attempt;
  if v_attempt.status = 'TRYING' and p_result.outcome = 'released' then
    perform outbox.undo_attempt(v_message, v_attempt, p_now);
    return;
  end if;
  select * into v_delivery_attempt from outbox.attempt t
  where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
    and t.attempt = p_result.attempt and t.kind = 'attempt';
  if v_attempt.status <> 'TRYING' or v_delivery_attempt.event_id is null
    or v_delivery_attempt.outcome <> p_result.outcome
  then
    perform outbox.apply_late_result(v_message, v_attempt, p_result, p_now);
  elsif p_result.outcome = 'delivered' then
    perform outbox.mark_sent(v_message, v_attempt, p_result.provider_id, p_result.provider, p_now);
  else
    perform outbox.fail_attempt(v_message, v_attempt, v_delivery_attempt, p_result, p_now);
  end if;
end
$$;
comment on function outbox.complete_message(outbox.result, timestamptz) is
  'Applies one result to its message: SENT, FAILED or QUEUED again. locks: the message.';

create function outbox.apply_late_result(
  p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result,
  p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- A late response proves that WhatsApp accepted the message, so do not send it again.
  if p_result.outcome = 'delivered' and p_result.provider_id is not null then
    perform outbox.mark_sent_late(
      outbox.callback_data(p_message.id, p_attempt.attempt_no), p_result.provider_id);
  elsif p_attempt.wamid is not null then
    perform outbox.close_settled_delivery(p_message, p_now);
  end if;
end
$$;
comment on function outbox.apply_late_result(
  outbox.outbound_message, outbox.message_attempt, outbox.result, timestamptz) is
  'Applies a result that came too late for its delivery. locks: the caller holds the gate and the '
  'message.';

create function outbox.fail_attempt(
  p_message outbox.outbound_message, p_attempt outbox.message_attempt,
  p_delivery_attempt outbox.attempt,
  p_result outbox.result, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_is_dead boolean;
begin
  p_message.error_code := coalesce(p_result.code, p_result.status::text, p_result.error_class);
  p_message.error_message := coalesce(p_result.error, p_result.error_class, 'failed');
  update outbox.message_attempt a set
    status = 'FAILED', error_code = p_message.error_code,
    error_message = p_message.error_message, provider_response = p_result.provider,
    next_retry_at = p_delivery_attempt.next_retry_at, updated_at = p_now
  where a.id = p_attempt.id;
  v_is_dead := exists (
    select from outbox.attempt t
    where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
      and t.attempt = p_result.attempt and t.kind = 'close');
  -- A callback may have set the message to SENT meanwhile: keep that status.
  if p_message.status <> 'SENDING' then
    return;
  end if;
  if v_is_dead then
    perform outbox.fail_message(p_message, p_message.error_code, p_message.error_message, p_now);
  else
    p_message.status := 'QUEUED';
    perform outbox.save_message(p_message, p_now);
  end if;
end
$$;
comment on function outbox.fail_attempt(
  outbox.outbound_message, outbox.message_attempt, outbox.attempt, outbox.result, timestamptz) is
  'Sets an attempt to FAILED, with the next retry of the delivery. The message is QUEUED again, '
  'or FAILED if the delivery was closed. locks: the caller holds the message.';

create function outbox.close_settled_delivery(
  p_message outbox.outbound_message, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_reason constant text := 'its callback came before this response';
  v_delivery outbox.delivery;
begin
  if p_message.status in ('QUEUED', 'SENDING') then
    return;
  end if;
  select * into v_delivery from outbox.delivery d
  where d.event_id = p_message.event_id and d.endpoint_id = p_message.channel_id
    and d.leased_until is null;
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', v_reason, p_now);
  end if;
  update outbox.dead_letter x set discarded_at = p_now, note = v_reason
  where x.event_id = p_message.event_id and x.endpoint_id = p_message.channel_id
    and x.discarded_at is null and p_message.status in ('SENT', 'DELIVERED');
end
$$;
comment on function outbox.close_settled_delivery(outbox.outbound_message, timestamptz) is
  'Closes the retry or dead letter of a message that callbacks have meanwhile set to a later '
  'status, although its response failed or was lost: the retry would delay the next message to '
  'this recipient. locks: the caller holds the gate and the message.';

create function outbox.undo_attempt(
  p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  if not exists (
    select from outbox.delivery d
    where d.event_id = p_attempt.event_id and d.endpoint_id = p_message.channel_id
      and d.attempt = p_attempt.claim and d.leased_until is null)
  then
    return;
  end if;
  delete from outbox.message_attempt a where a.id = p_attempt.id;
  if p_message.status = 'SENDING' then
    p_message.status := 'QUEUED';
    p_message.attempt_count := p_message.attempt_count - 1;
    perform outbox.save_message(p_message, p_now);
  end if;
end
$$;
comment on function outbox.undo_attempt(
  outbox.outbound_message, outbox.message_attempt, timestamptz) is
  'Deletes the attempt of a claim that was released without sending. locks: the caller holds the '
  'message.';

create or replace function outbox.on_results(
  p_results outbox.result[], p_news outbox.news, p_now timestamptz
) returns outbox.news
language plpgsql set search_path = ''
as $$
begin
  if exists (select from outbox.whatsapp_channel) then
    perform outbox.complete_messages(p_results, p_now);
    perform outbox.throttle_apps(p_results, p_now);
    p_news.gone := outbox.hold_channels(p_news.gone, p_results, p_now);
    p_news.held := outbox.hold_channels(p_news.held, p_results, p_now);
  end if;
  return p_news;
end
$$;
