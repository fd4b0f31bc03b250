-- The list of deliveries over the HTTP API. It is ordered by (event, endpoint), newest first. By
-- status it reads one of three tables: open deliveries, dead letters, or else the events of the
-- organisation. It reads the first two for all organisations: they have only open or failed
-- deliveries, not history, and a dead letter may be older than the events that an index by
-- organisation could find. An organisation with few open deliveries has them read through its
-- endpoints: it need not page through the backlog of another one. list_dead_letters() has an index
-- by organisation and time of failure.

create function outbox.delivery_endpoints(p_event_id uuid) returns table (endpoint_id uuid)
language plpgsql stable rows 10
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select d.endpoint_id from outbox.delivery d where d.event_id = p_event_id
  union
  select a.endpoint_id from outbox.attempt a
  where a.event_id = p_event_id and a.endpoint_id is not null
  union
  select r.endpoint_id from outbox.refusal r where r.event_id = p_event_id
  union
  -- Longer than its attempts.
  select x.endpoint_id from outbox.dead_letter x where x.event_id = p_event_id
  order by 1 desc;
end
$$;
comment on function outbox.delivery_endpoints(uuid) is
  'The endpoints for which an event has a delivery, open or finished, by id, highest first.';

create type outbox.delivery_key as (
  event_id uuid,
  endpoint_id uuid,
  event_type text
);
comment on type outbox.delivery_key is
  'The key of a delivery, with the type of its event; null if the type is not known yet.';

create function outbox.few_open(p_org_id text) returns integer
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_open bigint := (
    select coalesce(pg_catalog.sum(g.depth), 0)
    from outbox.endpoint e
    cross join lateral (
      select o.depth from outbox.gate o
      where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g
    where e.org_id = p_org_id and e.status <> 'deleted');
begin
  return case when v_open <= 2500 then v_open end;
end
$$;
comment on function outbox.few_open(text) is
  'The number of open deliveries of an organisation, if it is at most 2,500; otherwise null, as '
  'they are too many to sort for each page. Those that the database refused to create are not '
  'counted.';

create function outbox.own_open_list(
  p_org_id text, p_from uuid, p_below outbox.delivery_key
) returns refcursor
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_list refcursor;
begin
  open v_list for
  select o.event_id, o.endpoint_id, null
  from (
    select d.event_id, d.endpoint_id
    from outbox.endpoint e
    cross join lateral (
      select o.id, o.depth from outbox.gate o
      where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g
    cross join lateral (
      (
        -- The lane of new deliveries has many dead versions: see first_lease_end().
        select l.id from outbox.lane l
        where l.gate_id = g.id and not l.ordered and l.key_hash = 0
        order by l.changed_at desc limit 1
      )
      union all
      select l.id from outbox.lane l
      where l.gate_id = g.id and not (not l.ordered and l.key_hash = 0)
    ) l
    cross join lateral (
      select d.event_id, d.endpoint_id from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 offset 0
    ) d
    where e.org_id = p_org_id and e.status <> 'deleted' and g.depth > 0
    union all
    select r.event_id, r.endpoint_id
    from outbox.refusal r
    cross join lateral (
      select from outbox.endpoint e where e.id = r.endpoint_id and e.org_id = p_org_id offset 0
    ) e
    where r.step = 'routing'
  ) o
  where (o.event_id, o.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
    and o.event_id >= p_from
  order by o.event_id desc, o.endpoint_id desc;
  return v_list;
end
$$;
comment on function outbox.own_open_list(text, uuid, outbox.delivery_key) is
  'open_delivery_list() for an organisation with few open deliveries: reads all of them.';

create function outbox.open_delivery_list(
  p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key
) returns refcursor
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_day uuid := outbox.partition_floor(p_from);
  v_list refcursor;
begin
  if p_status in ('pending', 'processing', 'retrying', 'held', 'open') and not (
    p_status in ('held', 'open') and exists (select from outbox.refusal r where r.step = 'routing'))
  then
    open v_list for
    select d.event_id, d.endpoint_id, null
    from outbox.delivery d
    where (d.event_id, d.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and d.event_id >= p_from
    order by d.event_id desc, d.endpoint_id desc;
  elsif p_status in ('held', 'open') then
    -- Also the deliveries that the database rejected. They are few, so sorting is cheap.
    open v_list for
    select l.event_id, l.endpoint_id, null
    from (
      select d.event_id, d.endpoint_id from outbox.delivery d
      where (d.event_id, d.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
        and d.event_id >= p_from
      union all
      select r.event_id, r.endpoint_id from outbox.refusal r
      where (r.event_id, r.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
        and r.event_id >= p_from and r.step = 'routing'
    ) l
    order by l.event_id desc, l.endpoint_id desc;
  elsif p_status = 'dead_letter' then
    open v_list for
    select x.event_id, x.endpoint_id, x.original_topic
    from outbox.dead_letter x
    where (x.event_id, x.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and x.event_id >= p_from
    order by x.event_id desc, x.endpoint_id desc;
  else
    -- delivery_endpoints() returns its rows in order, and a nested loop keeps this order.
    open v_list for
    select e.id, p.endpoint_id, e.type
    from outbox.event e
    left join lateral outbox.delivery_endpoints(e.id) p on true
    where e.org_id > '' and (e.org_id, e.id) <= (p_org_id, p_below.event_id)
      and e.org_id >= p_org_id
      -- Selects the partitions; see partition_floor().
      and e.id >= v_day and e.id <= p_below.event_id
      and (e.id < p_below.event_id or p.endpoint_id < p_below.endpoint_id)
    order by e.org_id desc, e.id desc;
  end if;
  return v_list;
end
$$;
comment on function outbox.open_delivery_list(text, text, uuid, outbox.delivery_key) is
  'A cursor over the deliveries that may have a status (null: any), before p_below and from the '
  'event p_from on (or from a little before it on), newest first. An event without a delivery may '
  'have one row with a null. The caller checks the status of each row and, for open deliveries and '
  'dead letters, the organisation.';

create function outbox.may_have_status(
  p_event_id uuid, p_endpoint_id uuid, p_status text
) returns boolean
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return (
    select case
      when p_status = 'processing' then d.leased_until is not null
      else d.leased_until is null and e.status = 'enabled'
        and (g.breaker = 'closed' or not e.breaker_enabled)
        and (d.failed_attempts > 0 or d.lost_leases > 0) = (p_status = 'retrying')
    end
    from outbox.delivery d
    cross join lateral (
      select e.status, e.breaker_enabled from outbox.endpoint e
      where e.id = d.endpoint_id offset 0
    ) e
    cross join lateral (
      select g.breaker from outbox.gate g
      where g.endpoint_id = d.endpoint_id order by g.changed_at desc limit 1
    ) g
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id);
end
$$;
comment on function outbox.may_have_status(uuid, uuid, text) is
  'Whether an open delivery may be pending, processing or retrying: false for most that are not. '
  'It costs a fifth of delivery_json(), which decides.';

-- A page may end at a delivery of another organisation. The cursor must not contain its ids.
create function outbox.place_between(p_above uuid, p_below uuid) returns uuid
language plpgsql immutable strict set search_path = ''
as $$
declare
  v_digits text := pg_catalog.replace(p_above::text, '-', '');
  v_others text := pg_catalog.replace(p_below::text, '-', '');
  v_same integer := 0;
begin
  while pg_catalog.substr(v_digits, v_same + 1, 1) = pg_catalog.substr(v_others, v_same + 1, 1)
    and v_same < 32
  loop
    v_same := v_same + 1;
  end loop;
  return pg_catalog.rpad(pg_catalog.left(v_digits, v_same + 1), 32, '0')::uuid;
end
$$;
comment on function outbox.place_between(uuid, uuid) is
  'The shortest beginning of p_above that is greater than p_below, followed by zeros. p_below is '
  'smaller than p_above.';

create function outbox.list_deliveries(
  p_org_id text,
  p_status text default null,
  p_endpoint_id uuid default null,
  p_event_type text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_cursor text default null,
  p_limit integer default 50,
  p_due_from timestamptz default null,
  p_due_to timestamptz default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- What a page may cost: 1 per row (5 per event without a delivery), 4 more per delivery of the
  -- organisation, and 16 more if it is read completely: 50 ms for 5,000 deliveries of others, and
  -- 130 ms for 240 that are read completely. A page that ends at another organisation's delivery
  -- reads the other deliveries of that event too, see place_between().
  v_most constant integer := 5000;
  v_budget integer := v_most;
  v_span uuid[] := outbox.time_span(p_from, p_to);
  v_key text := outbox.cursor_to_key(p_cursor,
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
  v_below outbox.delivery_key :=
    row(v_span[2], '00000000-0000-0000-0000-000000000000'::uuid, null);
  v_own integer;
  v_list refcursor;
  v_at outbox.delivery_key;
  v_is_own boolean := false;
  v_last outbox.delivery_key;
  v_delivery jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_status is not null then
    perform outbox.check_choice('status', p_status, array['open', 'pending', 'processing',
      'retrying', 'held', 'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error',
      'event_missing']);
  end if;
  if p_due_from >= p_due_to then
    perform outbox.invalid('dueFrom', 'is not before dueTo', 'Expected a span of time');
  end if;
  if pg_catalog.split_part(v_key, '.', 1)::uuid < v_span[2] then
    v_below := row(pg_catalog.split_part(v_key, '.', 1)::uuid,
      pg_catalog.split_part(v_key, '.', 2)::uuid, null);
  end if;
  -- Only an open delivery has a next attempt.
  if p_status is null and (p_due_from is not null or p_due_to is not null) then
    p_status := 'open';
  end if;
  if p_status in ('open', 'pending', 'processing', 'retrying', 'held') then
    v_own := outbox.few_open(p_org_id);
  end if;
  v_list := case
    when v_own is null then outbox.open_delivery_list(p_org_id, p_status, v_span[1], v_below)
    else outbox.own_open_list(p_org_id, v_span[1], v_below)
  end;
  loop
    fetch v_list into v_at;
    if not found or v_at.event_id < v_span[1] then
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null,
        'rows', v_most - v_budget + coalesce(v_own, 0));
    end if;
    -- The last row is one of the page.
    exit when pg_catalog.cardinality(v_data) = p_limit;
    exit when v_budget <= 0 and v_is_own;
    if v_budget <= 0 and v_at.event_id < v_last.event_id then
      v_last := row(outbox.place_between(v_last.event_id, v_at.event_id), null, null);
      exit;
    end if;
    v_last := v_at;
    v_budget := v_budget - case when v_at.endpoint_id is null then 5 else 1 end;
    v_is_own := exists (
      select from outbox.endpoint e where e.id = v_at.endpoint_id and e.org_id = p_org_id);
    if v_is_own and v_at.endpoint_id = coalesce(p_endpoint_id, v_at.endpoint_id)
      and coalesce(v_at.event_type = p_event_type, true)
    then
      v_budget := v_budget - 4;
      continue when p_status in ('pending', 'processing', 'retrying')
        and not outbox.may_have_status(v_at.event_id, v_at.endpoint_id, p_status);
      v_budget := v_budget - 16;
      v_delivery := outbox.delivery_json(v_at.event_id, v_at.endpoint_id);
      if (v_delivery ->> 'status' = coalesce(p_status, v_delivery ->> 'status')
          or p_status = 'open'
            and v_delivery ->> 'status' in ('pending', 'processing', 'retrying', 'held'))
        and v_delivery ->> 'eventType' = coalesce(p_event_type, v_delivery ->> 'eventType')
        and coalesce((v_delivery ->> 'nextAttemptAt')::timestamptz >= p_due_from,
          p_due_from is null)
        and coalesce((v_delivery ->> 'nextAttemptAt')::timestamptz < p_due_to, p_due_to is null)
      then
        v_data := v_data || v_delivery;
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
    'rows', v_most - v_budget + coalesce(v_own, 0), 'nextCursor',
    outbox.key_to_cursor(v_last.event_id::text || '.'
      || coalesce(v_last.endpoint_id, '00000000-0000-0000-0000-000000000000')::text));
end
$$;
comment on function outbox.list_deliveries(
  text, text, uuid, text, timestamptz, timestamptz, text, integer, timestamptz, timestamptz) is
  'The deliveries of the endpoints of an organisation, newest event first: {"data": '
  '[delivery_json()], "nextCursor", "rows": what the page cost, in rows}. p_status: a status of '
  'delivery_json(), or open for the first four; p_from, p_to: the time of the event; p_due_from, '
  'p_due_to: that of the next attempt. Reads about 5,000 rows (for dead letters, and for open '
  'statuses if the organisation has more than 2,500 open deliveries: of all organisations) and at '
  'most 1,000 deliveries, so a page may be short; the list ends when nextCursor is null. OH001.';
