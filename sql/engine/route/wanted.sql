-- Which endpoints get an event: the one that it is addressed to, or each one that is subscribed to
-- its type. evaluate_filters() then removes the pairs whose filter does not pass the event.
--
-- An event goes to the endpoints that were subscribed at its created_at, with the filters of that
-- time (see endpoints/subscription). Whether the endpoint still exists is read now.
--
-- The steps of add_pairs(), one CTE each, in this order:
--
--   1 batch_events    The events of the batch.
--   2 changes         For each organisation, when its subscriptions began or ended between its
--                     first and its last event of the batch. Usually there is no such time.
--   3 dated_events    epoch: how many of these times are not after the event. The subscriptions
--                     were the same for all events of an organisation with the same epoch.
--   4 kinds           Events with the same endpoints: same organisation, type, addressee, `behind`
--                     and epoch. A kind has the place of its first event as id.
--   5 kind_endpoints  The endpoints of each kind, looked up once per kind. is_open: one of the
--                     subscriptions has no filter; filters: the filters of the others; status: of
--                     the endpoint now, null if it does not exist.
--   6 first_events    The events of the first p_limit pairs. before: the number of pairs of the
--                     events before it.
--   7                 The pairs, and a question for each pair with filters to be evaluated.
--
-- Steps 5 to 7 each stop at p_limit: the first p_limit pairs need no more rows than that.
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
  v_deleted constant text := 'the endpoint was deleted';
  v_first uuid := (select e from pg_catalog.unnest(p_batch.events) e order by e limit 1);
  v_last uuid := (select e from pg_catalog.unnest(p_batch.events) e order by e desc limit 1);
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
  ), changes as materialized (
    select o.org_id, c.times
    from (
      select r.org_id, pg_catalog.min(r.created_at) as first_at,
        pg_catalog.max(r.created_at) as last_at
      from batch_events r
      group by r.org_id
    ) o
    cross join lateral (
      select pg_catalog.array_agg(distinct t.at order by t.at) as times
      from (
        select s.created_at as at from outbox.subscription s
        where s.org_id = o.org_id and s.org_id > '' and s.created_at > o.first_at
          and s.created_at <= o.last_at
        union all
        select t.at
        from outbox.ended_subscription s
        cross join lateral (values (s.began_at), (s.ended_at)) t (at)
        where s.org_id = o.org_id and s.org_id > '' and s.ended_at > o.first_at
          and s.began_at <= o.last_at and t.at > o.first_at and t.at <= o.last_at
      ) t
      offset 0
    ) c
  ), dated_events as materialized (
    select r.*, coalesce(pg_catalog.width_bucket(r.created_at, c.times), 0) as epoch
    from batch_events r
    join changes c on c.org_id = r.org_id
  ), kinds as materialized (
    select r.org_id, r.type, r.addressee, r.behind, r.epoch, pg_catalog.min(r.place) as id,
      pg_catalog.min(r.created_at) as at
    from dated_events r
    group by r.org_id, r.type, r.addressee, r.behind, r.epoch
  ), kind_endpoints as materialized (
    select k.id as kind, s.*, p.ordering, p.status
    from (select k.* from kinds k order by k.id) k
    cross join lateral (
      select k.addressee as endpoint_id, true as is_open, null::jsonpath[] as filters,
        null::integer[] as weights
      where k.addressee > k.behind
      union all
      (
        select s.endpoint_id, pg_catalog.bool_or(s.filter is null),
          pg_catalog.array_agg(s.filter) filter (where s.filter is not null),
          pg_catalog.array_agg(s.filter_weight) filter (where s.filter is not null)
        from pg_catalog.unnest(outbox.type_patterns(k.type)) as q (pattern)
        cross join lateral (
          -- A comparison of rows, or the planner might take the index by endpoint, which has those
          -- of all organisations.
          select s.endpoint_id, s.filter, s.filter_weight
          from outbox.subscription s
          where s.org_id = k.org_id and s.pattern = q.pattern
            and (s.org_id, s.pattern, s.endpoint_id) > (k.org_id, q.pattern, k.behind)
            and s.created_at <= k.at
          union all
          select s.endpoint_id, s.filter, s.filter_weight
          from outbox.ended_subscription s
          where s.org_id = k.org_id and s.pattern = q.pattern
            and (s.org_id, s.pattern, s.endpoint_id) > (k.org_id, q.pattern, k.behind)
            and s.ended_at > k.at and s.began_at <= k.at
          offset 0
        ) s
        where k.addressee = v_nobody
        group by s.endpoint_id
        order by s.endpoint_id
        limit p_limit
      )
    ) s
    left join lateral (
      select p.ordering, p.status from outbox.endpoint p where p.id = s.endpoint_id offset 0
    ) p on true
    order by k.id, s.endpoint_id
    limit p_limit
  ), first_events as (
    select t.*
    from (
      select r.*, k.id as kind,
        pg_catalog.sum(n.n) over (order by r.place rows unbounded preceding) - n.n as before
      from dated_events r
      join kinds k on k.org_id = r.org_id and k.type = r.type and k.addressee = r.addressee
        and k.behind = r.behind and k.epoch = r.epoch
      join (
        select w.kind, pg_catalog.count(*)::integer as n from kind_endpoints w group by w.kind
      ) n on n.kind = k.id
    ) t
    where t.before < p_limit
  )
  select pg_catalog.array_agg(
    row(
      c.id, c.endpoint_id,
      case when c.status is null then '' when c.status = 'deleted' then v_deleted end,
      c.deliver_at,
      -- key_hash() costs as much as a lookup, and most endpoints have one lane.
      case
        when c.ordering = 'partition' then outbox.key_hash(c.ordering, c.partition_key) else 0
      end,
      c.body_bytes, coalesce(c.status = 'deleted', false)
    )::outbox.pair),
    pg_catalog.array_agg(
      row(c.id, c.endpoint_id, c.body_bytes, c.filters, c.weights, c.org_id)::outbox.question)
    filter (where c.is_asked),
    p_batch.is_shared or pg_catalog.bool_or(c.is_mixed)
  into p_batch.pairs, p_batch.questions, p_batch.is_shared
  from (
    select t.*, w.*, not w.is_open and w.status <> 'deleted' as is_asked,
      (select pg_catalog.count(*) > 1 from changes) as is_mixed
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
