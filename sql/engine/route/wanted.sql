-- Which endpoints get an event: the one that it is addressed to, or each one that is subscribed to
-- its type. evaluate_filters() then removes the pairs whose filter does not pass the event.
--
-- The steps of add_pairs(), one CTE each, in this order:
--
--   1 batch_events    The events of the batch.
--   2 kinds           Events with the same endpoints: same organisation, type, addressee and
--                     `behind`. A kind has the place of its first event as id.
--   3 kind_endpoints  The endpoints of each kind, looked up once per kind. since: the earliest
--                     subscription without a filter; filters: the filters of the other
--                     subscriptions; ordering: null if the endpoint is deleted.
--   4 first_events    The events of the first p_limit pairs. before: the number of pairs of the
--                     events before it.
--   5                 The pairs, and a question for each pair with filters to be evaluated. If a
--                     subscription without a filter is older than the event, there is no question.
--
-- Steps 3 to 5 each stop at p_limit: the first p_limit pairs need no more rows than that.
--
-- An example with p_limit 4. P is subscribed to order.*, Q to order.created with a filter, R to
-- invoice.paid.
--
--   event (type)         kind   before   pairs
--   e1 (order.created)   1      0        e1-P, e1-Q with a question
--   e2 (order.created)   1      2        e2-P, e2-Q with a question
--   e3 (invoice.paid)    3      4        none: 4 pairs are before it, so the next batch has it

create function outbox.add_pairs(p_batch outbox.routing, p_limit integer) returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup. All other joins are
-- hash joins of rows that were read before.
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
  with batch_events as materialized (
    select b.place, b.behind, e.*
    from unnest(p_batch.events, p_batch.behind) with ordinality as b (event_id, behind, place)
    join (
      select e.id, e.org_id, e.type, coalesce(e.endpoint_id, v_nobody) as addressee, e.created_at,
        e.deliver_at, e.partition_key, pg_catalog.octet_length(e.body) as body_bytes
      from outbox.event e
      -- The bounds select the partitions.
      where e.id = any (p_batch.events) and e.id between v_first and v_last
      offset 0
    ) e on e.id = b.event_id
  ), kinds as materialized (
    select r.org_id, r.type, r.addressee, r.behind, pg_catalog.min(r.place) as id
    from batch_events r
    group by r.org_id, r.type, r.addressee, r.behind
  ), kind_endpoints as materialized (
    select k.id as kind, s.*, p.ordering
    from (select k.* from kinds k order by k.id) k
    cross join lateral (
      select k.addressee as endpoint_id, '-infinity'::timestamptz as since,
        null::jsonpath[] as filters, null::timestamptz[] as filters_since,
        null::integer[] as weights
      where k.addressee > k.behind
      union all
      (
        select s.endpoint_id, pg_catalog.min(s.created_at) filter (where s.filter is null),
          pg_catalog.array_agg(s.filter) filter (where s.filter is not null),
          pg_catalog.array_agg(s.created_at) filter (where s.filter is not null),
          pg_catalog.array_agg(s.filter_weight) filter (where s.filter is not null)
        from pg_catalog.unnest(outbox.type_patterns(k.type)) as q (pattern)
        cross join lateral (
          select s.endpoint_id, s.filter, s.created_at, s.filter_weight
          from outbox.subscription s
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
      where p.id = s.endpoint_id and p.status <> 'deleted' offset 0
    ) p on true
    order by k.id, s.endpoint_id
    limit p_limit
  ), first_events as (
    select t.*
    from (
      select r.*, k.id as kind,
        pg_catalog.sum(n.n) over (order by r.place rows unbounded preceding) - n.n as before
      from batch_events r
      join kinds k on k.org_id = r.org_id and k.type = r.type and k.addressee = r.addressee
        and k.behind = r.behind
      join (
        select w.kind, pg_catalog.count(*)::integer as n from kind_endpoints w group by w.kind
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
      end,
      c.deliver_at,
      -- key_hash() costs as much as a lookup, and most endpoints have one lane.
      case
        when c.ordering = 'partition' then outbox.key_hash(c.ordering, c.partition_key) else 0
      end,
      c.body_bytes
    )::outbox.pair),
    pg_catalog.array_agg(
      row(c.id, c.endpoint_id, c.body_bytes, c.filters, c.filters_since,
        c.weights)::outbox.question)
    filter (where c.is_asked)
  into p_batch.pairs, p_batch.questions
  from (
    select t.*, w.*,
      w.filters is not null and w.ordering is not null
        and (w.since <= t.created_at) is not true as is_asked
    from first_events t
    join kind_endpoints w on w.kind = t.kind
    order by t.place, w.endpoint_id
    limit p_limit
  ) c;
  return p_batch;
end
$$;
comment on function outbox.add_pairs(outbox.routing, integer) is
  'A batch with the pairs (event, endpoint) of its events, in the order of its events: at most '
  'p_limit, including pairs that get no delivery, and a question for each pair that has filters.';
