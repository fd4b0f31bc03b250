-- What the results of a run do to messages, in the transaction that applies them to the deliveries.
-- Order of locks: the gates, which the caller holds, then messages by id. What a claim does to them
-- is in 66.

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
      r.retry_after, r.duration_ms, r.response, r.lossy, r.provider_id, r.provider
    from pg_catalog.unnest(p_results) with ordinality as r (event, endpoint, attempt, outcome,
      status, error_class, error, code, retry_after, duration_ms, response, lossy, provider_id,
      provider, place)
    join outbox.whatsapp_channel w on w.endpoint_id = r.endpoint
    join outbox.message_attempt a on a.event_id = r.event and a.claim = r.attempt
    order by a.message_id, r.place
  loop
    perform outbox.complete_message(v_result, p_now);
  end loop;
  perform outbox.apply_kept(p_results, p_now);
  perform outbox.heed_answers(p_results, p_now);
end
$$;
comment on function outbox.complete_messages(outbox.result[], timestamptz) is
  'Writes what results mean for their messages, after they were applied to the deliveries. locks: '
  'messages by id.';

create function outbox.complete_message(p_result outbox.result, p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
  v_receipt outbox.attempt;
  v_dead boolean;
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
  select * into v_receipt from outbox.attempt t
  where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
    and t.attempt = p_result.attempt and t.kind = 'try';
  if v_attempt.status <> 'TRYING' or v_receipt.event_id is null
    or v_receipt.outcome <> p_result.outcome
  then
    -- Too late for the delivery, but it says that the message was taken: no second one is sent.
    if p_result.outcome = 'delivered' and p_result.provider_id is not null then
      perform outbox.adopt_message(
        outbox.callback_data(v_message.id, v_attempt.attempt_no), p_result.provider_id);
    elsif v_attempt.wamid is not null then
      perform outbox.end_told(v_message, p_now);
    end if;
    return;
  end if;
  if p_result.outcome = 'delivered' then
    perform outbox.mark_sent(v_message, v_attempt, p_result.provider_id, p_result.provider, p_now);
    return;
  end if;
  v_message.error_code := coalesce(p_result.code, p_result.status::text, p_result.error_class);
  v_message.error_message := coalesce(p_result.error, p_result.error_class, 'failed');
  update outbox.message_attempt a set
    status = 'FAILED', error_code = v_message.error_code,
    error_message = v_message.error_message, provider_response = p_result.provider,
    next_retry_at = v_receipt.next_retry_at, updated_at = p_now
  where a.id = v_attempt.id;
  v_dead := exists (
    select from outbox.attempt t
    where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
      and t.attempt = p_result.attempt and t.kind = 'close');
  -- A callback may have said in the meantime that it was sent: then that stands.
  if v_message.status <> 'SENDING' then
    return;
  end if;
  if v_dead then
    perform outbox.fail_message(v_message, v_message.error_code, v_message.error_message, p_now);
  else
    v_message.status := 'QUEUED';
    perform outbox.save_message(v_message, p_now);
  end if;
end
$$;
comment on function outbox.complete_message(outbox.result, timestamptz) is
  'Writes what one result means for its message: SENT, FAILED or QUEUED again. locks: the message.';

create function outbox.end_told(
  p_message outbox.outbound_message, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_why constant text := 'its callback came before this answer';
  v_delivery outbox.delivery;
begin
  if p_message.status in ('QUEUED', 'SENDING') then
    return;
  end if;
  select * into v_delivery from outbox.delivery d
  where d.event_id = p_message.event_id and d.endpoint_id = p_message.channel_id
    and d.leased_until is null;
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', v_why, p_now);
  end if;
  update outbox.dead_letter x set discarded_at = p_now, note = v_why
  where x.event_id = p_message.event_id and x.endpoint_id = p_message.channel_id
    and x.discarded_at is null and p_message.status in ('SENT', 'DELIVERED');
end
$$;
comment on function outbox.end_told(outbox.outbound_message, timestamptz) is
  'Ends what a failed or lost answer leaves of a delivery whose message callbacks have taken '
  'further in the meantime: the retry would keep back the next message to that person. locks: the '
  'caller holds the gate and the message.';

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
  'Takes back the attempt of a claim that was given back unsent. locks: the caller holds the '
  'message.';

create function outbox.mark_sent(
  p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text,
  p_provider jsonb, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- A provider that gives one id twice must not cost the results of a whole call.
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
  if p_message.status not in ('QUEUED', 'SENDING') then
    return;
  end if;
  p_message.status := 'SENT';
  p_message.provider_message_id := p_wamid;
  p_message.wa_id := coalesce(p_provider ->> 'wa_id', p_message.wa_id);
  p_message.sent_at := p_now;
  p_message.error_code := null;
  p_message.error_message := null;
  perform outbox.save_message(p_message, p_now);
  perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, 'SENT',
    'Message sent successfully', null, p_now);
  perform outbox.note_activity(p_message, 'MESSAGE_SENT',
    pg_catalog.jsonb_build_object('attempt', p_attempt.attempt_no), p_now);
end
$$;
comment on function outbox.mark_sent(
  outbox.outbound_message, outbox.message_attempt, text, jsonb, timestamptz) is
  'Notes that WhatsApp has taken an attempt: the message is SENT, with audit and activity, unless '
  'it was ended before. locks: the caller holds the message.';

create function outbox.callback_data(p_message_id bigint, p_attempt_no integer) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.format('ob1:%s:%s', p_message_id, p_attempt_no);
end
$$;
comment on function outbox.callback_data(bigint, integer) is
  'What names an attempt to WhatsApp, which echoes it in each status.';

create function outbox.adopt_message(p_callback_data text, p_wamid text) returns text
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_name text[] := pg_catalog.regexp_match(p_callback_data, '^ob1:([0-9]{1,18}):([0-9]{1,9})$');
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
  v_delivery outbox.delivery;
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
  perform outbox.mark_sent(v_message, v_attempt, p_wamid, null, v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = v_attempt.event_id and d.endpoint_id = v_message.channel_id;
  -- A lease stands: its result ends the delivery, or the next claim finds the message sent.
  if found and v_delivery.leased_until is null then
    perform outbox.close_delivery(v_delivery, 'cancelled',
      pg_catalog.format('attempt %s was taken, though its answer was lost', v_attempt.attempt_no),
      v_now);
  end if;
  return 'adopted';
end
$$;
comment on function outbox.adopt_message(text, text) is
  'Gives an attempt, named by its callback data, the id under which WhatsApp took it: the message '
  'is SENT and its pending retry is closed, so that a lost answer makes no second message. '
  'Returns adopted, known (it has that id already) or unknown. locks: the gate, then the message.';

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
    perform outbox.audit(v_message.org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'CANCELLED',
      'Message cancelled: ' || p_why, null, p_now);
  else
    perform outbox.fail_message(v_message, p_outcome, p_why, p_now);
  end if;
end
$$;
comment on function outbox.close_message(uuid, text, text, timestamptz) is
  'Ends the message, if there is one that still waits, of a delivery that was closed. locks: the '
  'caller holds the gate; the message.';

create function outbox.hold_channels(
  p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
  v_code text;
  v_why text;
begin
  for v_id in
    select w.endpoint_id from outbox.whatsapp_channel w
    join outbox.endpoint e on e.id = w.endpoint_id
    where w.endpoint_id = any (p_endpoint_ids) and e.state = 'enabled'
    order by w.endpoint_id
    -- As disable_itself(): the next failure holds it then.
    for no key update of e skip locked
  loop
    select coalesce(r.code, r.error_class),
      pg_catalog.format('%s %s', coalesce(r.code, r.error_class), f.title)
    into v_code, v_why
    from pg_catalog.unnest(p_results) r
    cross join lateral outbox.failure_rule_of('whatsapp', r.status, r.error_class, r.code,
      r.provider ->> 'subcode') f
    where r.endpoint = v_id and r.outcome = 'failed' and f.action in ('hold', 'fail_hold')
    limit 1;
    perform outbox.hold_channel(v_id, outbox.cause_of(v_code), true, v_why, p_now, null, p_now);
  end loop;
  return nullif(array(
    select u from pg_catalog.unnest(p_endpoint_ids) u
    where not exists (select from outbox.whatsapp_channel w where w.endpoint_id = u)), '{}');
end
$$;
comment on function outbox.hold_channels(uuid[], outbox.result[], timestamptz) is
  'Pauses the channels among endpoints that a failure wants held, with the reason, and publishes '
  'outhook.channel.held; returns the endpoints that are no channels.';

create function outbox.throttle_apps(
  p_results outbox.result[], p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_endpoints uuid[];
  v_waits interval[];
  v_locked uuid[];
begin
  select pg_catalog.array_agg(o.id), pg_catalog.array_agg(o.wait) into v_endpoints, v_waits
  from (
    select o.endpoint_id as id, pg_catalog.max(greatest(
      outbox.retry_after(r.retry_after, p_now), f.min_delay_s * interval '1 s')) as wait
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select outbox.failure_rule_of('whatsapp', r.status, r.error_class, r.code,
        r.provider ->> 'subcode') as rule
      where r.outcome = 'failed' offset 0
    ) x
    cross join lateral (select (x.rule).*) f
    join outbox.whatsapp_channel w on w.endpoint_id = r.endpoint
    join outbox.whatsapp_channel o on o.endpoint_id <> w.endpoint_id
      and case f.scope when 'app' then o.app_id = w.app_id else o.waba_id = w.waba_id end
    where f.action = 'throttle' and f.scope in ('app', 'account')
    group by o.endpoint_id
  ) o;
  if v_endpoints is not null then
    -- Nobody is waited for: a number whose gate is held hears of it from WhatsApp itself.
    v_locked := outbox.try_lock_gates(v_endpoints);
    update outbox.gate g set not_before = greatest(g.not_before, p_now + o.wait)
    from unnest(v_endpoints, v_waits) as o (id, wait)
    where g.endpoint_id = o.id and o.id = any (v_locked);
    perform outbox.park(v_locked, p_now);
  end if;
end
$$;
comment on function outbox.throttle_apps(outbox.result[], timestamptz) is
  'Holds back the other numbers of a Meta app, or of an account, whose calls are used up, as '
  'apply_results() did with the one that was told. locks: gates with SKIP LOCKED.';

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
    select m.* from outbox.whatsapp_channel w
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
  'Fails up to p_limit messages that a deleted channel had not sent; returns how many. locks: the '
  'caller holds the gate; messages by id.';

create function outbox.forget_channel(p_endpoint_id uuid) returns void
language plpgsql set search_path = ''
as $$
declare
  v_token uuid;
begin
  delete from outbox.whatsapp_channel w
  where w.endpoint_id = p_endpoint_id returning w.token_vault_id into v_token;
  if not found then
    return;
  end if;
  delete from vault.secrets v where v.id = v_token;
  delete from outbox.conversation_window w where w.channel_id = p_endpoint_id;
  delete from outbox.channel_hold h where h.channel_id = p_endpoint_id;
end
$$;
comment on function outbox.forget_channel(uuid) is
  'Removes what a deleted channel leaves: its token, windows and holds.';
