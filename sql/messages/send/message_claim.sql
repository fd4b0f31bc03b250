-- Effects of a claim on messages: the status SENDING and an attempt that is TRYING. Conditions that
-- may have changed since the message was created are checked again at every attempt.

create function outbox.start_attempts(
  p_claimed outbox.claimed, p_now timestamptz
) returns outbox.claimed
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_row record;
  v_message outbox.outbound_message;
  v_why text;
  v_refused jsonb[] := array[]::jsonb[];
  v_failed jsonb[] := array[]::jsonb[];
  v_released outbox.result;
  v_sqlstate text;
  v_error text;
  v_check outbox.sending_check;
  v_wait interval;
  v_remaining outbox.claimed;
  v_channels uuid[] := array[]::uuid[];
begin
  for v_row in
    select c.event_id, c.endpoint_id, c.attempt, w.account, d.failed_attempts, m.id,
      d.lane_id
    from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts)
      as c (event_id, endpoint_id, attempt)
    join outbox.message_channel w on w.endpoint_id = c.endpoint_id
    join outbox.delivery d on d.event_id = c.event_id and d.endpoint_id = c.endpoint_id
    left join outbox.outbound_message m
      on m.event_id = c.event_id and m.channel_id = c.endpoint_id
    order by m.id
  loop
    v_channels := v_channels || v_row.endpoint_id;
    select * into v_message from outbox.outbound_message m where m.id = v_row.id for update;
    v_sqlstate := null;
    v_wait := null;
    begin
      v_check := outbox.check_sending(v_message, p_now);
      v_why := outbox.why_not_send(v_message, v_check.refusal, v_row.event_id, v_row.endpoint_id,
        p_now);
      if v_why is null then
        v_wait := case
          when outbox.is_template_held(v_message) then interval '1 minute'
          else outbox.wait_for_person(v_check.lane_keys, v_row.endpoint_id, v_row.lane_id, p_now)
        end;
      end if;
      if v_why is null and v_wait is null then
        perform outbox.start_attempt(v_message, v_row.account, v_row.event_id,
          v_row.attempt, v_row.failed_attempts + 1, p_now);
      end if;
    exception when query_canceled or assert_failure or others then
      if outbox.fails_call(sqlstate) then
        raise;
      end if;
      v_sqlstate := sqlstate;
      v_error := sqlerrm;
    end;
    v_released := outbox.given_back(v_row.event_id, v_row.endpoint_id, v_row.attempt);
    if v_sqlstate is not null then
      v_failed := v_failed || pg_catalog.to_jsonb(v_released);
      perform outbox.refuse_result(v_released, v_sqlstate, v_error, p_now);
    elsif v_why is not null or v_wait is not null then
      v_refused := v_refused || pg_catalog.jsonb_build_object('event', v_row.event_id,
        'endpoint', v_row.endpoint_id, 'attempt', v_row.attempt, 'why', v_why, 'wait', v_wait);
    end if;
  end loop;
  perform outbox.end_claims(v_refused, p_now);
  -- Also if all are sent: wait_for_person() may have delayed other lanes.
  if pg_catalog.cardinality(v_channels) > 0 then
    perform outbox.park(v_channels, p_now);
  end if;
  if pg_catalog.cardinality(v_refused || v_failed) = 0 then
    return p_claimed;
  end if;
  select pg_catalog.array_agg(c.event_id order by c.place),
    pg_catalog.array_agg(c.endpoint_id order by c.place),
    pg_catalog.array_agg(c.attempt order by c.place),
    pg_catalog.array_agg(c.failed_attempts order by c.place),
    pg_catalog.array_agg(c.lane_id order by c.place),
    pg_catalog.array_agg(c.ordered order by c.place),
    pg_catalog.array_agg(c.replayed order by c.place),
    pg_catalog.array_agg(c.lease_ms order by c.place)
  into v_remaining
  from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts, p_claimed.failed_attempts,
    p_claimed.lanes, p_claimed.ordered, p_claimed.replayed, p_claimed.leases_ms) with ordinality
    as c (event_id, endpoint_id, attempt, failed_attempts, lane_id, ordered, replayed, lease_ms,
      place)
  where not exists (
    select from pg_catalog.unnest(v_refused || v_failed) r
    where r ->> 'event' = c.event_id::text and r ->> 'endpoint' = c.endpoint_id::text);
  return v_remaining;
end
$$;
comment on function outbox.start_attempts(outbox.claimed, timestamptz) is
  'Sets the messages of claimed deliveries to SENDING, each with a new attempt. A message that '
  'must not be sent now is failed and its delivery closed. If its template is held, it is checked '
  'again after a minute, and if another lane of the person has just sent, after the pace. If the '
  'database raises an error for it, its delivery waits or is set aside. Returns the remaining '
  'claimed deliveries. locks: the caller holds the gates; messages by id.';

create function outbox.end_claims(p_claims jsonb[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_results outbox.result[] := array(
    select outbox.given_back((c ->> 'event')::uuid, (c ->> 'endpoint')::uuid,
      (c ->> 'attempt')::integer)
    from pg_catalog.unnest(p_claims) c);
  v_half integer := pg_catalog.cardinality(p_claims) / 2;
  v_delivery outbox.delivery;
  v_claim jsonb;
  v_sqlstate text;
  v_error text;
begin
  if pg_catalog.cardinality(p_claims) = 0 then
    return;
  end if;
  begin
    perform outbox.complete(v_results, p_now);
    foreach v_claim in array p_claims loop
      select * into v_delivery from outbox.delivery d
      where d.event_id = (v_claim ->> 'event')::uuid
        and d.endpoint_id = (v_claim ->> 'endpoint')::uuid;
      if v_claim ->> 'why' is null then
        perform outbox.rest_lane(v_delivery.lane_id, (v_claim ->> 'wait')::interval, p_now);
      else
        perform outbox.close_delivery(v_delivery, 'cancelled', v_claim ->> 'why', p_now);
      end if;
    end loop;
    return;
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
    v_sqlstate := sqlstate;
    v_error := sqlerrm;
  end;
  if v_half = 0 then
    perform outbox.refuse_result(v_results[1], v_sqlstate, v_error, p_now);
    return;
  end if;
  perform outbox.end_claims(p_claims[1:v_half], p_now);
  perform outbox.end_claims(p_claims[v_half + 1:], p_now);
end
$$;
comment on function outbox.end_claims(jsonb[], timestamptz) is
  'Ends claims whose message is not sent: closes the delivery (why), or delays its lane (wait). '
  'p_claims: {"event", "endpoint", "attempt", "why", "wait"}. If the database refuses one, it '
  'waits or is set aside as a refused result, and all others are ended. locks: the caller holds '
  'the gates.';

create function outbox.is_template_held(p_message outbox.outbound_message) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return p_message.template_code is not null and exists (
    select from outbox.template t
    join outbox.whatsapp_channel c on c.endpoint_id = p_message.channel_id
    join outbox.template_hold h on h.app_id = c.app_id and h.waba_id = c.waba_id
      and h.name = t.name and h.language = t.language and h.held
    where t.org_id = p_message.org_id and t.code = p_message.template_code);
end
$$;
comment on function outbox.is_template_held(outbox.outbound_message) is
  'Whether WhatsApp has paused or disabled the template of a message in the account of its '
  'channel.';

create function outbox.wait_for_person(
  p_lane_keys text[], p_endpoint_id uuid, p_lane_id bigint, p_now timestamptz
) returns interval
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_not_before timestamptz;
begin
  if coalesce(pg_catalog.cardinality(p_lane_keys), 0) < 2 then
    return null;
  end if;
  select l.not_before into v_not_before from outbox.lane l
  where l.id = p_lane_id order by l.changed_at desc limit 1;
  if v_not_before > p_now then
    return v_not_before - p_now;
  end if;
  perform outbox.rest_lane(l.id, e.lane_spacing_ms * interval '1 ms', p_now)
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  cross join lateral pg_catalog.unnest(p_lane_keys) k
  join outbox.lane l on l.gate_id = g.id and l.ordered
    and l.key_hash = outbox.key_hash('partition', k)
  where g.endpoint_id = p_endpoint_id and l.id <> p_lane_id;
  return null;
end
$$;
comment on function outbox.wait_for_person(text[], uuid, bigint, timestamptz) is
  'A person who was joined may have messages in several lanes of a number: until they are sent, '
  'one lane that sends delays the others. Returns how long this lane has to wait for another; '
  'null if it may send. locks: the caller holds the gate, and parks it afterwards.';

create function outbox.why_not_send(
  p_message outbox.outbound_message, p_refusal text, p_event_id uuid, p_endpoint_id uuid,
  p_now timestamptz
) returns text
language plpgsql set search_path = ''
as $$
declare
  v_code text := p_refusal;
begin
  if p_message.id is null then
    return 'no message belongs to this event';
  end if;
  if p_message.status not in ('QUEUED', 'SENDING') and not (
    -- An operator resends the message by replaying its dead letter.
    p_message.status = 'FAILED' and exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
        and d.replayed_at is not null))
  then
    return pg_catalog.format('the message is %s', p_message.status);
  end if;
  if v_code is null then
    return null;
  end if;
  if v_code = 'consent_required' then
    v_code := 'consent_revoked';
  end if;
  perform outbox.audit_refusal(p_message, v_code, null, p_now);
  if p_message.status <> 'FAILED' then
    perform outbox.fail_message(p_message, v_code, outbox.refusal_text(v_code), p_now);
  end if;
  return v_code;
end
$$;
comment on function outbox.why_not_send(
  outbox.outbound_message, text, uuid, uuid, timestamptz) is
  'Why a claimed message must not be sent, p_refusal or its status; null if it may be. A message '
  'that policy forbids is failed. locks: the caller holds the message.';

create function outbox.start_attempt(
  p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer,
  p_count integer, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.message_attempt (
    message_id, attempt_no, status, created_at, updated_at, event_id, claim, phone_number_id)
  select p_message.id, coalesce(pg_catalog.max(a.attempt_no), 0) + 1, 'TRYING', p_now, p_now,
    p_event_id, p_claim, p_phone_number_id
  from outbox.message_attempt a where a.message_id = p_message.id;
  if p_message.status = 'FAILED' then
    p_message.status := 'QUEUED';
    p_message.provider_message_id := null;
    perform outbox.save_message(p_message, p_now);
    perform outbox.audit_message(p_message, 'UPDATED', 'Sent again by a replay', null, p_now);
  end if;
  p_message.status := 'SENDING';
  p_message.attempt_count := p_count;
  perform outbox.save_message(p_message, p_now);
end
$$;
comment on function outbox.start_attempt(
  outbox.outbound_message, text, uuid, integer, integer, timestamptz) is
  'Sets a message to SENDING and adds an attempt that is TRYING. locks: the caller holds the '
  'message.';

create or replace function outbox.on_claimed(
  p_claimed outbox.claimed, p_now timestamptz
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
begin
  if exists (select from outbox.message_channel) then
    return outbox.start_attempts(p_claimed, p_now);
  end if;
  return p_claimed;
end
$$;
