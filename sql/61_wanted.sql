-- Who wants an event: the endpoint that it is addressed to, or every one that is subscribed to its
-- type and whose filter lets it through. A filter is the user's code, and what goes wrong in it
-- costs its own delivery and no other.

create function outbox.filter_problem(
  p_filters jsonpath[], p_since timestamptz[], p_body text, p_created_at timestamptz
) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_problem text := '';
begin
  for v_n in 1 .. pg_catalog.cardinality(p_filters) loop
    continue when p_since[v_n] > p_created_at;
    begin
      -- A predicate ($.a == 1) gives true or false; another path matches when it finds something.
      if exists (
        select from pg_catalog.jsonb_path_query(p_body::jsonb, p_filters[v_n]) f (value)
        where f.value not in ('false'::jsonb, 'null'::jsonb)
      ) then
        return null;
      end if;
    exception when others then
      v_problem := greatest(v_problem, 'filter: ' || sqlerrm);
    end;
  end loop;
  return v_problem;
end
$$;
comment on function outbox.filter_problem(jsonpath[], timestamptz[], text, timestamptz) is
  'Null when a payload passes one of the filters that are not younger than its event, the empty '
  'string when it passes none, else why one of them could not be asked.';

create function outbox.add_pairs(p_batch outbox.routing, p_limit integer) returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup. What is joined otherwise
-- was read before, and is joined by hash.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_nobody constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_first uuid := p_batch.events[1];
  v_last uuid := p_batch.events[pg_catalog.cardinality(p_batch.events)];
begin
  with read as materialized (
    select b.place, b.behind, e.*
    from unnest(p_batch.events, p_batch.behind) with ordinality as b (event_id, behind, place)
    join (
      select e.id, e.org_id, e.type, coalesce(e.endpoint_id, v_nobody) as addressee, e.created_at,
        e.deliver_at, e.partition_key, e.body, pg_catalog.octet_length(e.body) as body_bytes
      from outbox.event e
      -- The bounds choose the partitions.
      where e.id = any (p_batch.events) and e.id between v_first and v_last
      offset 0
    ) e on e.id = b.event_id
  ), kind as materialized (
    -- Events that the same endpoints may want, by the place of the first.
    select r.org_id, r.type, r.addressee, r.behind, pg_catalog.min(r.place) as id
    from read r
    group by r.org_id, r.type, r.addressee, r.behind
  ), wish as materialized (
    -- Since when an endpoint wants a kind unasked, and with which filters; no ordering when it was
    -- deleted. Wherever this limit cuts, the pairs of the first of each kind are p_limit already.
    select k.id as kind, s.*, p.ordering
    from (select k.* from kind k order by k.id) k
    cross join lateral (
      select k.addressee as endpoint_id, '-infinity'::timestamptz as since,
        null::jsonpath[] as filters, null::timestamptz[] as filters_since
      where k.addressee > k.behind
      union all
      (
        select s.endpoint_id, pg_catalog.min(s.created_at) filter (where s.filter is null),
          pg_catalog.array_agg(s.filter) filter (where s.filter is not null),
          pg_catalog.array_agg(s.created_at) filter (where s.filter is not null)
        from pg_catalog.unnest(outbox.type_patterns(k.type)) as q (pattern)
        cross join lateral (
          select s.endpoint_id, s.filter, s.created_at from outbox.subscription s
          where s.org_id = k.org_id and s.pattern = q.pattern offset 0
        ) s
        where k.addressee = v_nobody and s.endpoint_id > k.behind
        group by s.endpoint_id
        order by s.endpoint_id
        limit p_limit
      )
    ) s
    left join lateral (
      select p.ordering from outbox.endpoint p
      where p.id = s.endpoint_id and p.state <> 'deleted' offset 0
    ) p on true
    order by k.id, s.endpoint_id
    limit p_limit
  ), taken as (
    -- The events that come into the first p_limit pairs.
    select t.*
    from (
      select r.*, k.id as kind,
        pg_catalog.sum(n.n) over (order by r.place rows unbounded preceding) - n.n as before
      from read r
      join kind k on k.org_id = r.org_id and k.type = r.type and k.addressee = r.addressee
        and k.behind = r.behind
      join (
        select w.kind, pg_catalog.count(*)::integer as n from wish w group by w.kind
      ) n on n.kind = k.id
    ) t
    where t.before < p_limit
  )
  select pg_catalog.array_agg(
    row(
      c.id, c.endpoint_id,
      case
        when c.ordering is null then ''
        when c.since <= c.created_at then null
        when c.filters is null then ''
        else outbox.filter_problem(c.filters, c.filters_since, c.asked_body, c.created_at)
      end,
      c.deliver_at,
      -- A call of a function costs as much as a look-up, and most endpoints have one lane.
      case
        when c.ordering = 'partition' then outbox.key_hash(c.ordering, c.partition_key) else 0
      end,
      c.body_bytes
    )::outbox.pair)
  into p_batch.pairs
  from (
    select t.*, w.*, case when w.filters is not null then t.body end as asked_body
    from taken t
    join wish w on w.kind = t.kind
    order by t.place, w.endpoint_id
    limit p_limit
  ) c;
  return p_batch;
end
$$;
comment on function outbox.add_pairs(outbox.routing, integer) is
  'A batch with the pairs (event, endpoint) that its events make, in the order of its events: '
  'p_limit of them at most, those included that turn out not to be wanted.';
