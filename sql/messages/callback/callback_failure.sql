-- If a callback reports a failure, failure_rule may also cause an opt-out, hold the channel, or
-- throttle a number or recipient. The failure causes no retry. A callback may be days late, so a
-- channel that was resumed after the failure is not held, and a delay that is over is not set.

create function outbox.apply_failure_rules(
  p_changes outbox.status_change[], p_now timestamptz
) returns outbox.opt_out_change[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_failures outbox.status_change[] := array(
    select c from pg_catalog.unnest(p_changes) c
    where c.rank = 4 and c.is_new and c.reason is distinct from 'already');
begin
  if pg_catalog.cardinality(v_failures) = 0 then
    return null;
  end if;
  perform outbox.hold_after_failures(v_failures, p_now);
  perform outbox.throttle_after_failures(v_failures, p_now);
  return array(
    select row(m.org_id, coalesce(outbox.speaker_of(outbox.update_identifiers(u)),
        outbox.identifier_of(m.to_recipient)), f.opt_out, false, c.at,
      pg_catalog.format('code %s', c.code), c.wamid, pg_catalog.concat_ws(': ', c.title, c.details),
      'OUTBOUND_MESSAGE', m.id::text)::outbox.opt_out_change
    from pg_catalog.unnest(v_failures) c
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
      and f.opt_out is not null
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    cross join lateral (
      select x.* from outbox.whatsapp_update x where x.id = c.update_id offset 0
    ) u);
end
$$;
comment on function outbox.apply_failure_rules(outbox.status_change[], timestamptz) is
  'Applies failure_rule to failures from callbacks: holds and throttles. Returns the opt-outs. '
  'locks: endpoints and gates with SKIP LOCKED.';

create function outbox.opt_outs_of_responses(
  p_results outbox.result[], p_now timestamptz
) returns outbox.opt_out_change[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return array(
    select row(m.org_id, outbox.identifier_of(m.to_recipient), f.opt_out, false, p_now,
      pg_catalog.format('code %s', failed.code), null, failed.error, 'OUTBOUND_MESSAGE', m.id::text
    )::outbox.opt_out_change
    from (
      select x.event, x.attempt, x.code, x.error from pg_catalog.unnest(p_results) x
      -- The codes of another channel have other meanings.
      join outbox.endpoint e on e.id = x.endpoint and e.kind = 'whatsapp'
      where x.outcome = 'failed' and x.code is not null
    ) failed
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = failed.code
      and f.opt_out is not null
    cross join lateral (
      select x.attempt_no, x.message_id from outbox.message_attempt x
      where x.event_id = failed.event and x.claim = failed.attempt offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m);
end
$$;
comment on function outbox.opt_outs_of_responses(outbox.result[], timestamptz) is
  'The opt-outs that error codes in WhatsApp''s responses cause. apply_failure_rules() returns '
  'those of callbacks.';

create function outbox.hold_after_failures(
  p_failures outbox.status_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row record;
begin
  for v_row in
    select e.id, o.code, o.title, o.at
    from (
      select distinct on (m.channel_id) m.channel_id, c.code, f.title, c.at
      from pg_catalog.unnest(p_failures) c
      join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
        and f.action in ('hold', 'fail_hold')
      cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
      order by m.channel_id, c.at desc
    ) o
    join outbox.whatsapp_channel w on w.endpoint_id = o.channel_id
    join outbox.endpoint e on e.id = o.channel_id
    where e.status = 'enabled' and o.at > coalesce(e.ramp_from, '-infinity')
    order by e.id
    for no key update of e skip locked
  loop
    perform outbox.hold_channel(v_row.id, outbox.hold_cause(v_row.code), true,
      pg_catalog.format('%s %s', v_row.code, v_row.title), v_row.at, null, p_now);
  end loop;
end
$$;
comment on function outbox.hold_after_failures(outbox.status_change[], timestamptz) is
  'Holds the channels of failures whose rule is hold or fail_hold. locks: endpoints with SKIP '
  'LOCKED.';

create function outbox.throttle_after_failures(
  p_failures outbox.status_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row record;
  v_gates uuid[];
begin
  for v_row in
    select f.scope, m.channel_id, m.org_id, m.to_recipient, w.app_id, w.waba_id,
      pg_catalog.max(c.at + f.min_delay_s * interval '1 s') as until
    from pg_catalog.unnest(p_failures) c
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
      and f.action = 'throttle' and c.at + f.min_delay_s * interval '1 s' > p_now
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    join outbox.whatsapp_channel w on w.endpoint_id = m.channel_id
    group by f.scope, m.channel_id, m.org_id, m.to_recipient, w.app_id, w.waba_id
    order by f.scope, m.channel_id
  loop
    v_gates := outbox.try_lock_gates(array(
      select w.endpoint_id from outbox.whatsapp_channel w
      where w.endpoint_id = v_row.channel_id
        or (v_row.scope = 'app' and w.app_id = v_row.app_id)
        or (v_row.scope = 'account' and w.waba_id = v_row.waba_id)));
    if v_row.scope = 'lane' then
      perform outbox.rest_lane(l.id, v_row.until - p_now, p_now)
      from outbox.gate g
      join outbox.lane l on l.gate_id = g.id and l.ordered
        and l.key_hash in (
          select outbox.key_hash('partition', k)
          from pg_catalog.unnest(outbox.lane_keys_of(v_row.org_id, v_row.to_recipient)) k)
      where g.endpoint_id = any (v_gates);
    else
      update outbox.gate g set not_before = greatest(g.not_before, v_row.until)
      where g.endpoint_id = any (v_gates);
    end if;
    perform outbox.park(v_gates, p_now);
  end loop;
end
$$;
comment on function outbox.throttle_after_failures(outbox.status_change[], timestamptz) is
  'Delays the numbers, apps, accounts and recipients of failures whose rule is throttle. locks: '
  'gates with SKIP LOCKED.';
