-- Effects of the results of a run on messages, in the transaction that applies the results to
-- deliveries. Lock order: the gates, which the caller holds, then messages by id, then the people
-- of all results at once. message_claim has the effects of a claim.

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
  v_updates bigint[];
  v_links outbox.person_link[];
  v_opt_outs outbox.opt_out_change[];
begin
  for v_result in
    select r.event, r.endpoint, r.attempt, r.outcome, r.status, r.error_class, r.error, r.code,
      r.retry_after, r.duration_ms, r.response, r.lossy, r.provider_id, r.provider, r.cut,
      r.resent, r.endpoint_version
    from pg_catalog.unnest(p_results) with ordinality as r (event, endpoint, attempt, outcome,
      status, error_class, error, code, retry_after, duration_ms, response, lossy, provider_id,
      provider, cut, resent, endpoint_version, place)
    join outbox.message_channel w on w.endpoint_id = r.endpoint
    join outbox.message_attempt a on a.event_id = r.event and a.claim = r.attempt
    order by a.message_id, r.place
  loop
    perform outbox.complete_message(v_result, p_now);
  end loop;
  perform outbox.apply_early_reports(p_results);
  v_updates := outbox.take_waiting_updates(p_results);
  v_links := outbox.links_of_responses(p_results);
  v_opt_outs := outbox.opt_outs_of_responses(p_results, p_now);
  perform outbox.lock_links(v_links || outbox.links_of_updates(v_updates) || array(
    select row(c.org_id, array[c.recipient])::outbox.person_link
    from pg_catalog.unnest(v_opt_outs) c), p_now);
  if pg_catalog.cardinality(v_updates) > 0 then
    perform outbox.try_apply(v_updates, p_now);
    perform outbox.count_updates(v_updates);
  end if;
  perform outbox.join_people(v_links, p_now);
  if pg_catalog.cardinality(v_opt_outs) > 0 then
    perform outbox.save_opt_outs(v_opt_outs, p_now);
  end if;
end
$$;
comment on function outbox.complete_messages(outbox.result[], timestamptz) is
  'Applies results to their messages, after they were applied to the deliveries. locks: messages '
  'by id, then people, as lock_links(), then opt-outs.';

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
    perform outbox.mark_sent(v_attempt, p_result.provider_id, p_result.provider, p_now);
  else
    perform outbox.fail_attempt(v_attempt, v_delivery_attempt, p_result, p_now);
  end if;
end
$$;
comment on function outbox.complete_message(outbox.result, timestamptz) is
  'Writes one result into its attempt and judges the message. locks: the caller holds the gate; '
  'the message.';

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
  end if;
  perform outbox.close_needless_retries(array[p_message.id], p_now);
end
$$;
comment on function outbox.apply_late_result(
  outbox.outbound_message, outbox.message_attempt, outbox.result, timestamptz) is
  'Applies a result that came too late for its delivery. locks: the caller holds the gate and the '
  'message.';

create function outbox.fail_attempt(
  p_attempt outbox.message_attempt, p_delivery_attempt outbox.attempt, p_result outbox.result,
  p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.message_attempt a set
    status = 'FAILED',
    error_code = coalesce(p_result.code, p_result.status::text, p_result.error_class),
    error_message = coalesce(p_result.error, p_result.error_class, 'failed'),
    provider_response = p_result.provider,
    next_retry_at = p_delivery_attempt.next_retry_at, updated_at = p_now
  where a.id = p_attempt.id;
  perform outbox.judge_messages(array[p_attempt.message_id], p_now);
  perform outbox.close_needless_retries(array[p_attempt.message_id], p_now);
end
$$;
comment on function outbox.fail_attempt(
  outbox.message_attempt, outbox.attempt, outbox.result, timestamptz) is
  'Sets an attempt to FAILED, with the next retry of the delivery, and judges its message. locks: '
  'the caller holds the gate and the message.';

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
  update outbox.outbound_message m set attempt_count = m.attempt_count - 1
  where m.id = p_message.id;
  perform outbox.judge_messages(array[p_message.id], p_now);
  perform outbox.close_needless_retries(array[p_message.id], p_now);
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
  if exists (select from outbox.message_channel) then
    perform outbox.complete_messages(p_results, p_now);
    perform outbox.throttle_apps(p_results, p_now);
    p_news.gone := outbox.hold_channels(p_news.gone, p_results, p_now);
    p_news.held := outbox.hold_channels(p_news.held, p_results, p_now);
  end if;
  return p_news;
end
$$;
