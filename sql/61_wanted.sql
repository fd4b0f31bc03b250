-- Who wants an event: the endpoint that it is addressed to, or every one that is subscribed to its
-- type and whose filter lets it through. A filter is the user's code, and what goes wrong in it
-- costs its own delivery and no other.

create function outbox.filter_problem(p_filter jsonpath, p_body text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- A predicate ($.a == 1) gives true or false; any other path matches when it finds something.
  return case
    when exists (
      select from pg_catalog.jsonb_path_query(p_body::jsonb, p_filter) f (value)
      where f.value not in ('false'::jsonb, 'null'::jsonb)
    ) then null
    else ''
  end;
exception when others then
  return 'filter: ' || sqlerrm;
end
$$;
comment on function outbox.filter_problem(jsonpath, text) is
  'Null when a payload passes a filter, the empty string when it does not, else why the filter '
  'could not be asked.';

create function outbox.add_pairs(p_batch outbox.routing, p_limit integer) returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  select pg_catalog.array_agg(m.event_id order by m.place, m.endpoint_id),
    pg_catalog.array_agg(m.endpoint_id order by m.place, m.endpoint_id),
    pg_catalog.array_agg(m.problem order by m.place, m.endpoint_id)
  into p_batch.pair_events, p_batch.pair_endpoints, p_batch.pair_problems
  from (
    select b.event_id, b.place, t.endpoint_id, t.problem
    from pg_catalog.unnest(p_batch.events) with ordinality as b (event_id, place)
    cross join lateral (
      select u.routed_to from outbox.unrouted u where u.event_id = b.event_id offset 0
    ) u
    cross join lateral (select e.* from outbox.event e where e.id = b.event_id offset 0) e
    cross join lateral (
      -- The addressed endpoint, else each with a subscription that matches, is not younger than the
      -- event, and whose filter lets it through; problem says why a filter could not be asked.
      select p.id as endpoint_id, null as problem from outbox.endpoint p
      where p.id = e.endpoint_id and p.state <> 'deleted'
        and (u.routed_to is null or p.id > u.routed_to)
      union all
      (
        select s.endpoint_id,
          case when not pg_catalog.bool_or(f.problem is null) then pg_catalog.max(f.problem) end
        from pg_catalog.unnest(outbox.type_patterns(e.type)) as q (pattern)
        cross join lateral (
          select s.endpoint_id, s.filter, s.created_at from outbox.subscription s
          where s.org_id = e.org_id and s.pattern = q.pattern offset 0
        ) s
        cross join lateral (
          select from outbox.endpoint p where p.id = s.endpoint_id and p.state <> 'deleted' offset 0
        ) p
        cross join lateral (
          select case
            when s.filter is not null then outbox.filter_problem(s.filter, e.body)
          end as problem
        ) f
        where e.endpoint_id is null and s.created_at <= e.created_at
          and (u.routed_to is null or s.endpoint_id > u.routed_to)
          and f.problem is distinct from ''
        group by s.endpoint_id
        order by s.endpoint_id
        limit p_limit
      )
    ) t
    order by b.place, t.endpoint_id
    limit p_limit
  ) m;
  return p_batch;
end
$$;
comment on function outbox.add_pairs(outbox.routing, integer) is
  'A batch with the pairs (event, endpoint) that its events make, in the order of its events: '
  'p_limit of them at most.';
