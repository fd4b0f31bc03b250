-- Organisations take turns. Routing reads events in the order of their ids, so an organisation with
-- expensive filters or many endpoints would hold up all others. Such an organisation has a share of
-- a call:
--
--   filters   half of the work that one call evaluates (see evaluate_filters())
--   pairs     the 2,000 pairs of one call, unless half of the batch is done with them, or fewer
--             than 10 events of the organisation are left
--
-- The event at which the share ends, and all later ones of the organisation, get its org_id in
-- unrouted: they wait for the turn of the organisation. Every second call is such a turn, of one
-- organisation after the other; all other calls read the events of all other organisations. An
-- organisation whose events have all had their turn is read as before. If no other organisation can
-- be waiting (a batch that is not full, of one organisation), there is no limit.
--
-- An example: A has 3 events with two filters of half a second each, B has one event after them.
--
--   call 1   evaluates the first filter of e1; e1, e2 and e3 wait for the turn of A
--   call 2   is the turn of A: the other filter of e1
--   call 3   routes the event of B
--   call 4   is the turn of A, and so are the next ones, because there is nothing else

create function outbox.turn_org(p_router outbox.router) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from outbox.unrouted u where u.org_id > '')
    or p_router.turn % 2 = 0 and outbox.has_new(p_router)
  then
    return null;
  end if;
  return coalesce(
    (
      select u.org_id from outbox.unrouted u
      where u.org_id > p_router.last_org and u.org_id > '' order by u.org_id, u.event_id limit 1
    ),
    (
      select u.org_id from outbox.unrouted u
      where u.org_id > '' order by u.org_id, u.event_id limit 1
    ));
end
$$;
comment on function outbox.turn_org(outbox.router) is
  'The organisation whose turn the next call is; null if that call reads new events.';

create function outbox.oldest_waiting() returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_org text := '';
  v_event uuid;
  v_oldest timestamptz;
begin
  loop
    select u.org_id, u.event_id into v_org, v_event from outbox.unrouted u
    where u.org_id > v_org and u.org_id > '' order by u.org_id, u.event_id limit 1;
    exit when not found;
    v_oldest := least(v_oldest, outbox.uuid_v7_time(v_event));
  end loop;
  return v_oldest;
end
$$;
comment on function outbox.oldest_waiting() is
  'The time of the oldest event that waits for the turn of its organisation; null if none does.';

create function outbox.read_turn(p_org_id text, p_limit integer) returns outbox.routing
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_batch outbox.routing;
begin
  select pg_catalog.array_agg(u.event_id), pg_catalog.array_agg(u.ctid),
    pg_catalog.array_agg(coalesce(u.routed_to, v_start))
  into v_batch.events, v_batch.rows_at, v_batch.behind
  from (
    select u.event_id, u.ctid, u.routed_to from outbox.unrouted u
    where u.org_id = p_org_id and u.org_id > '' order by u.event_id limit p_limit
  ) u;
  v_batch.turn_of := p_org_id;
  v_batch.is_shared := true;
  return v_batch;
end
$$;
comment on function outbox.read_turn(text, integer) is
  'A batch of the first events that wait for the turn of an organisation.';

create function outbox.await_turns(p_batch outbox.routing) returns outbox.routing
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from outbox.unrouted u where u.org_id > '') then
    return p_batch;
  end if;
  select coalesce(pg_catalog.array_agg(b.event_id order by b.place) filter (where w.org_id is null),
      '{}'),
    coalesce(pg_catalog.array_agg(b.row_at order by b.place) filter (where w.org_id is null), '{}'),
    coalesce(pg_catalog.array_agg(b.behind order by b.place) filter (where w.org_id is null), '{}'),
    pg_catalog.array_agg(b.row_at order by b.place) filter (where w.org_id is not null),
    pg_catalog.array_agg(w.org_id order by b.place) filter (where w.org_id is not null)
  into p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.waiting_at, p_batch.waiting_orgs
  from unnest(p_batch.events, p_batch.rows_at, p_batch.behind) with ordinality
    as b (event_id, row_at, behind, place)
  left join lateral (
    select e.org_id from outbox.event e
    where e.id = b.event_id
      and exists (select from outbox.unrouted u where u.org_id = e.org_id and u.org_id > '')
    offset 0
  ) w on true;
  p_batch.is_shared := true;
  return p_batch;
end
$$;
comment on function outbox.await_turns(outbox.routing) is
  'A batch without the events of organisations of which earlier events wait for a turn, so that '
  'the order of their events stays.';

create function outbox.org_share_ends(
  p_questions outbox.question[], p_most bigint
) returns integer
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.min(s.place)
    from (
      select q.place, pg_catalog.row_number() over orgs as n,
        pg_catalog.sum(q.body_bytes * (2 + w.weight)) over orgs as work
      from unnest(p_questions) with ordinality
        as q (event_id, endpoint_id, body_bytes, filters, weights, org_id, place)
      cross join lateral (
        select pg_catalog.sum(w) as weight from pg_catalog.unnest(q.weights) w
      ) w
      window orgs as (partition by q.org_id order by q.place)
    ) s
    where s.work > p_most and s.n > 1);
end
$$;
comment on function outbox.org_share_ends(outbox.question[], bigint) is
  'The place of the first question with which an organisation has more work than p_most; its first '
  'question does not count. Null if there is none.';

create function outbox.await_turn_at(
  p_batch outbox.routing, p_most integer
) returns outbox.routing
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- For fewer events a turn is not worth its extra calls.
  v_fewest constant integer := 10;
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
  v_org text;
  v_left tid[];
begin
  if p_batch.turn_of is not null or p_batch.is_shared is not true
    or p_batch.cut_org is null and v_place * 2 > pg_catalog.cardinality(p_batch.events)
  then
    return p_batch;
  end if;
  select e.org_id into v_org from outbox.event e where e.id = v_cut;
  v_left := array(
    select b.row_at
    from unnest(p_batch.events[v_place + 1:], p_batch.rows_at[v_place + 1:])
      as b (event_id, row_at)
    cross join lateral (
      select e.org_id from outbox.event e where e.id = b.event_id offset 0
    ) e
    where e.org_id = v_org);
  if p_batch.cut_org is null and (
    pg_catalog.cardinality(v_left) < v_fewest
    or (
      select coalesce(pg_catalog.sum(n.n), 0) * 2 < p_most
      from (
        select p.event_id, pg_catalog.count(*) as n from pg_catalog.unnest(p_batch.pairs) p
        group by p.event_id
      ) n
      cross join lateral (
        select e.org_id from outbox.event e where e.id = n.event_id offset 0
      ) e
      where e.org_id = v_org))
  then
    return p_batch;
  end if;
  p_batch.cut_org := v_org;
  p_batch.waiting_at := p_batch.waiting_at || v_left;
  p_batch.waiting_orgs := p_batch.waiting_orgs
    || pg_catalog.array_fill(v_org, array[pg_catalog.cardinality(v_left)]);
  return p_batch;
end
$$;
comment on function outbox.await_turn_at(outbox.routing, integer) is
  'A batch that is to be cut to p_most pairs. If that is the end of the share of an organisation '
  '(cut_org), or if one has most of the pairs and half of the events are left, its other events '
  'wait for its turn.';
