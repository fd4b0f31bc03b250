-- Retry policies: when the next attempt is due. An endpoint may override the policy of its kind. A
-- policy is jsonb:
--   {"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "max_retries": 5, "jitter": true}
--   {"strategy": "exponential", "base_delay": 1, "factor": 2, "max_delay": 30,
--    "max_retries": 5, "jitter": true}
-- Times are seconds. Delay n follows failure n. A schedule that is too short repeats its last
-- delay.

create function outbox.retry_preset(p_kind text) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (select k.retry from outbox.endpoint_kind k where k.kind = p_kind);
end
$$;
comment on function outbox.retry_preset(text) is
  'The default retry policy of an endpoint kind; null for an unknown kind.';

create function outbox.check_retry(p_policy jsonb) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_strategy text := p_policy ->> 'strategy';
  v_field text;
  v_shortest float8;
begin
  if p_policy is null then
    return;
  end if;
  if pg_catalog.jsonb_typeof(p_policy) <> 'object' or v_strategy is null
    or v_strategy not in ('schedule', 'exponential', 'linear', 'fixed')
  then
    perform outbox.invalid('retry.strategy',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(v_strategy)),
      'Expected schedule, exponential, linear or fixed');
  end if;
  select k into v_field from pg_catalog.jsonb_object_keys(p_policy) k
  where k not in (
    'strategy', 'delays', 'base_delay', 'factor', 'max_delay', 'max_retries', 'jitter'
  )
  limit 1;
  if found then
    perform outbox.invalid('retry.' || v_field, 'is not a field of a retry policy',
      'Expected strategy, delays, base_delay, factor, max_delay, max_retries, jitter');
  end if;
  -- strict: a lax path unwraps arrays and would accept [[1]]. At least 0.001: a much smaller number
  -- may be out of range for double precision.
  if v_strategy = 'schedule' and (
    pg_catalog.jsonb_typeof(p_policy -> 'delays') is distinct from 'array'
    or pg_catalog.jsonb_array_length(p_policy -> 'delays') not between 1 and 50
    or pg_catalog.jsonb_path_exists(p_policy,
      'strict $.delays[*] ? (@.type() != "number" || @ != 0 && @ < 0.001 || @ > 604800)'))
  then
    perform outbox.invalid('retry.delays', 'is not a list of 1 to 50 numbers from 0 to 604800',
      'Expected seconds, such as [1, 5, 15, 60, 300], to a millisecond');
  end if;
  -- A schedule does not need base_delay, but delay_after() reads it.
  if (v_strategy <> 'schedule' or p_policy ? 'base_delay')
    and pg_catalog.jsonb_path_exists(p_policy -> 'base_delay',
      'strict $ ? (@.type() == "number" && (@ == 0 || @ >= 0.001) && @ <= 604800)') is not true
  then
    perform outbox.invalid('retry.base_delay', 'is not a number from 0 to 604800',
      'Expected seconds, such as 1, to a millisecond');
  end if;
  foreach v_field in array array['factor', 'max_delay', 'max_retries'] loop
    if p_policy ? v_field and (
      not pg_catalog.jsonb_path_exists(p_policy -> v_field, (case v_field
        when 'factor' then 'strict $ ? (@.type() == "number" && @ >= 1 && @ <= 100)'
        when 'max_delay' then
          'strict $ ? (@.type() == "number" && (@ == 0 || @ >= 0.001) && @ <= 604800)'
        else 'strict $ ? (@.type() == "number" && @ >= 0 && @ <= 50)'
      end)::jsonpath)
      -- 5.0 is a valid number, but the cast to integer fails.
      or v_field = 'max_retries' and p_policy ->> v_field ~ '[^0-9]')
    then
      perform outbox.invalid('retry.' || v_field, 'is out of range',
        'factor: 1 to 100; max_delay: 0 to 604800 s; max_retries: a whole number from 0 to 50');
    end if;
  end loop;
  v_shortest := case v_strategy
    when 'schedule' then (
      select pg_catalog.min(d::float8)
      from pg_catalog.jsonb_array_elements_text(p_policy -> 'delays') d
    )
    else (p_policy ->> 'base_delay')::float8
  end;
  -- Every delay would be max_delay, so one of the two is a mistake.
  if (p_policy ->> 'max_delay')::float8 < v_shortest then
    perform outbox.invalid('retry.max_delay',
      pg_catalog.format('is %s s, less than the shortest delay, %s s', p_policy -> 'max_delay',
        v_shortest::numeric),
      'Raise it to that delay at least, or omit it');
  end if;
  if p_policy ? 'jitter' and pg_catalog.jsonb_typeof(p_policy -> 'jitter') <> 'boolean' then
    perform outbox.invalid('retry.jitter', 'is not true or false',
      'Expected true: the delay is multiplied by 0.5 to 1.5');
  end if;
end
$$;
comment on function outbox.check_retry(jsonb) is
  'Raises OH001 for the first invalid field of a retry policy; null is valid.';

-- check_retry() raises an error for an invalid policy, so these constraints also reject a plain
-- UPDATE.
alter table outbox.endpoint add constraint endpoint_retry_is_valid
  check (outbox.check_retry(retry) is not null);
alter table outbox.endpoint_kind add constraint endpoint_kind_retry_is_valid
  check (outbox.check_retry(retry) is not null);

create function outbox.delay_after(p_policy jsonb, p_failure integer) returns interval
language plpgsql volatile set search_path = ''
as $$
declare
  v_failure integer := greatest(p_failure, 1);
  v_base float8 := (p_policy ->> 'base_delay')::float8;
  v_seconds float8;
begin
  v_seconds := case p_policy ->> 'strategy'
    when 'schedule' then (
      p_policy -> 'delays'
      ->> least(v_failure, pg_catalog.jsonb_array_length(p_policy -> 'delays')) - 1
    )::float8
    -- The exponent is at most 64, or power() would overflow.
    when 'exponential' then least(604800, v_base * pg_catalog.power(
      coalesce((p_policy ->> 'factor')::float8, 2), least(v_failure - 1, 64)))
    when 'linear' then v_base * v_failure
    when 'fixed' then v_base
  end;
  return pg_catalog.make_interval(secs => least(
    v_seconds
      * case when (p_policy ->> 'jitter')::boolean then 0.5 + pg_catalog.random() else 1 end,
    coalesce((p_policy ->> 'max_delay')::float8, 604800)));
end
$$;
comment on function outbox.delay_after(jsonb, integer) is
  'As calculate_delay(), but without a check of the policy. Stored policies are valid.';

create function outbox.calculate_delay(p_policy jsonb, p_attempt integer) returns interval
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform outbox.check_retry(coalesce(p_policy, '{}'));
  return outbox.delay_after(p_policy, p_attempt);
end
$$;
comment on function outbox.calculate_delay(jsonb, integer) is
  'The wait after failure number p_attempt (from 1). Jitter multiplies it by a uniform random '
  'number from 0.5 to 1.5. max_delay (default: a week) limits the result after jitter. OH001 for '
  'an invalid policy.';

create function outbox.preview_schedule(p_policy jsonb) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  perform outbox.check_retry(p_policy);
  return (
    select coalesce(
      pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('failure', n, 'delay_s', d.delay_s,
          'least_s', d.least_s, 'most_s', d.most_s, 'after_s', d.after_s)
        order by n),
      '[]')
    from (
      select n, s.delay_s, case when j.on then 0.5 * s.delay_s else s.delay_s end as least_s,
        least(case when j.on then 1.5 * s.delay_s else s.delay_s end,
          coalesce((p_policy ->> 'max_delay')::float8, 604800)) as most_s,
        pg_catalog.sum(s.delay_s) over (order by n) as after_s
      from pg_catalog.generate_series(1, coalesce((p_policy ->> 'max_retries')::integer, 5)) as n
      cross join lateral (
        select extract(epoch from outbox.delay_after(p_policy - 'jitter', n))::float8 as delay_s
      ) s
      cross join (select coalesce((p_policy ->> 'jitter')::boolean, false) as on) j
    ) d);
end
$$;
comment on function outbox.preview_schedule(jsonb) is
  'The delays of a policy, one object per failure: [{"failure", "delay_s", "least_s" and "most_s" '
  'with jitter, "after_s": since the first attempt, without jitter}]. OH001.';

create function outbox.retry_of_wire(p_policy jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  if p_policy is null then
    return null;
  end if;
  return (
    select coalesce(pg_catalog.jsonb_object_agg(
      case m.key
        when 'baseDelay' then 'base_delay'
        when 'maxDelay' then 'max_delay'
        when 'maxRetries' then 'max_retries'
        else m.key
      end, m.value), '{}')
    from pg_catalog.jsonb_each(p_policy) m
  );
end
$$;
comment on function outbox.retry_of_wire(jsonb) is
  'Renames the fields of a retry policy from the names of the API to those of SQL; null for null.';
