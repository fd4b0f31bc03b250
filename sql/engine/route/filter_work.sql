-- The work of filters, in steps of at most 0.5 us. It is known before a filter runs: a part of a
-- filter with a weight runs at most once for each value of the payload. The filters of one pair
-- take at most 50 ms: filter_problem() refuses the pair if they would take more than 100,000 steps.

create function outbox.count_values(p_body text) returns bigint
language sql immutable strict set search_path = ''
as $$
  -- One translate() of 230 KB takes 23 ms, three replace() take 1.5 ms.
  select 1 + 3 * pg_catalog.octet_length(p_body)::bigint
    - pg_catalog.octet_length(pg_catalog.replace(p_body, ',', ''))
    - pg_catalog.octet_length(pg_catalog.replace(p_body, '[', ''))
    - pg_catalog.octet_length(pg_catalog.replace(p_body, '{', ''))
$$;
comment on function outbox.count_values(text) is
  'The most values that a JSON text can have: one more than it has commas and opening brackets.';

create function outbox.sorting_work(p_event_id uuid, p_body_bytes bigint) returns bigint
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_small constant integer := 16384;
  -- The worst order of n names takes n * n / 12 comparisons of 20 ns.
  v_members constant integer := 300;
  v_colons bigint;
begin
  if p_body_bytes <= v_small then
    return 0;
  end if;
  select pg_catalog.octet_length(e.body)
    - pg_catalog.octet_length(pg_catalog.replace(e.body, ':', ''))
  into v_colons
  from outbox.event e where e.id = p_event_id;
  return v_colons * v_colons / v_members;
end
$$;
comment on function outbox.sorting_work(uuid, bigint) is
  'The cost for Postgres to sort the members of a payload when it parses it as jsonb, in steps of '
  '0.5 us. Each colon counts as a member of one object.';

create function outbox.estimated_work(p_body_bytes bigint, p_weights integer[]) returns bigint
language sql immutable set search_path = ''
as $$
  select p_body_bytes * (2 + (select pg_catalog.sum(w) from pg_catalog.unnest(p_weights) w)) / 8
$$;
comment on function outbox.estimated_work(bigint, integer[]) is
  'About how many steps it takes to read a payload and to evaluate filters of these weights on it, '
  'if a value has 8 bytes. Routing decides by this, before it has read the payload, which '
  'organisations wait for a turn.';

create function outbox.most_filter_steps() returns bigint
language sql immutable set search_path = ''
as $$
  select 100000::bigint
$$;
comment on function outbox.most_filter_steps() is
  'The most steps that the filters of one endpoint may take on one payload: 50 ms.';

create function outbox.filter_steps(
  p_weights integer[], p_value_count bigint
) returns bigint
language sql immutable set search_path = ''
as $$
  select p_value_count * (select pg_catalog.sum(w) from pg_catalog.unnest(p_weights) w)
$$;
comment on function outbox.filter_steps(integer[], bigint) is
  'The most steps that filters of these weights take on a payload with that many values, besides '
  'the parts without a weight, which run once.';
