create function outbox.hold_channels(
  p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
  v_code text;
  v_reason text;
begin
  for v_id in
    select w.endpoint_id from outbox.whatsapp_channel w
    join outbox.endpoint e on e.id = w.endpoint_id
    where w.endpoint_id = any (p_endpoint_ids) and e.status = 'enabled'
    order by w.endpoint_id
    -- Skip a locked endpoint, as disable_endpoints() does: the next failure holds it.
    for no key update of e skip locked
  loop
    select coalesce(r.code, r.error_class),
      pg_catalog.format('%s %s', coalesce(r.code, r.error_class), f.title)
    into v_code, v_reason
    from pg_catalog.unnest(p_results) r
    cross join lateral outbox.failure_rule_of('whatsapp', r.status, r.error_class, r.code,
      r.provider ->> 'subcode') f
    where r.endpoint = v_id and r.outcome = 'failed' and f.action in ('hold', 'fail_hold')
    limit 1;
    begin
      perform outbox.hold_channel(v_id, outbox.hold_cause(v_code), true, v_reason, p_now, null,
        p_now);
    exception when lock_not_available then
      -- So does a locked hold.
      null;
    end;
  end loop;
  return nullif(array(
    select u from pg_catalog.unnest(p_endpoint_ids) u
    where not exists (select from outbox.whatsapp_channel w where w.endpoint_id = u)), '{}');
end
$$;
comment on function outbox.hold_channels(uuid[], outbox.result[], timestamptz) is
  'Pauses the enabled channels whose rule for a failure is hold or fail_hold, with the reason, '
  'and publishes outhook.channel.held. Returns the endpoints that are not channels. locks: '
  'endpoints with SKIP LOCKED.';

create function outbox.throttle_apps(
  p_results outbox.result[], p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_endpoints uuid[];
  v_waits interval[];
  v_locked uuid[];
  v_max_wait integer := outbox.setting_int('retry_after.max_s');
begin
  select pg_catalog.array_agg(o.id), pg_catalog.array_agg(o.wait) into v_endpoints, v_waits
  from (
    select o.endpoint_id as id, pg_catalog.max(greatest(
      outbox.retry_after(r.retry_after, p_now, v_max_wait), f.min_delay_s * interval '1 s')) as wait
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
    -- Skip locked gates: WhatsApp will also throttle those numbers itself.
    v_locked := outbox.try_lock_gates(v_endpoints);
    update outbox.gate g set not_before = greatest(g.not_before, p_now + o.wait)
    from unnest(v_endpoints, v_waits) as o (id, wait)
    where g.endpoint_id = o.id and o.id = any (v_locked);
    perform outbox.park(v_locked, p_now);
  end if;
end
$$;
comment on function outbox.throttle_apps(outbox.result[], timestamptz) is
  'Delays the other numbers of a Meta app or account that has used up its calls. apply_results() '
  'has delayed the number that got the error. locks: gates with SKIP LOCKED.';
