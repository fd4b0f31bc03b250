-- The organisations whose events wait for a turn (see turn), and which events these are.
-- waiting_part has a row for each organisation and period of 256 ms, so that it stays small
-- whatever waits. Only the holder of the lock of router changes it.

create type outbox.part as (org_id text, period bytea);
comment on type outbox.part is 'The events of one organisation and one period of 256 ms.';

create function outbox.period_of(p_event_id uuid) returns bytea
language sql immutable strict set search_path = ''
as $$
  select pg_catalog.substr(pg_catalog.uuid_send(p_event_id), 1, 5)
$$;
comment on function outbox.period_of(uuid) is 'The period of an event, as in outbox.unrouted.';

create function outbox.period_end(p_period bytea) returns uuid
language sql immutable strict set search_path = ''
as $$
  select (pg_catalog.encode(p_period, 'hex') || pg_catalog.repeat('f', 22))::uuid
$$;
comment on function outbox.period_end(bytea) is 'A bound: at least every id of that period.';

create function outbox.wait_for_turns(p_parts outbox.part[]) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.waiting_part (org_id, period)
  select distinct p.org_id, p.period from pg_catalog.unnest(p_parts) p
  on conflict do nothing;
end
$$;
comment on function outbox.wait_for_turns(outbox.part[]) is
  'Puts parts of unrouted into waiting_part. locks: the caller holds router.';

create function outbox.waiting_orgs(p_after text, p_limit integer) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_orgs text[] := array[]::text[];
  v_org text := p_after;
  v_is_round boolean := false;
begin
  while pg_catalog.cardinality(v_orgs) < p_limit loop
    select b.org_id into v_org from outbox.waiting_part b where b.org_id > v_org
    order by b.org_id, b.period limit 1;
    if not found then
      exit when v_is_round;
      v_is_round := true;
      v_org := '';
      continue;
    end if;
    exit when v_is_round and v_org > p_after;
    v_orgs := pg_catalog.array_append(v_orgs, v_org);
  end loop;
  return v_orgs;
end
$$;
comment on function outbox.waiting_orgs(text, integer) is
  'Up to p_limit organisations in waiting_part, in the order of their turns: the one after p_after '
  'first.';

create function outbox.first_waiting(p_org_id text) returns uuid
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup, and read_turn()
-- for the ranges of one value.
set enable_seqscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select u.event_id
    from (
      select b.period from outbox.waiting_part b
      where b.org_id = p_org_id order by b.period offset 0
    ) b
    cross join lateral (
      select u.event_id from outbox.unrouted u
      where u.period = b.period and u.org_id >= p_org_id and u.org_id <= p_org_id
        and u.org_id > ''
      order by u.period, u.org_id, u.event_id limit 1
    ) u
    limit 1);
end
$$;
comment on function outbox.first_waiting(text) is
  'The first event of an organisation that waits for its turn; null if there is none. It passes '
  'over parts of which nothing is left.';

create function outbox.oldest_waiting() returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_org text := '';
  v_oldest timestamptz;
begin
  loop
    select b.org_id into v_org from outbox.waiting_part b
    where b.org_id > v_org order by b.org_id, b.period limit 1;
    exit when not found;
    v_oldest := least(v_oldest, outbox.uuid_v7_time(outbox.first_waiting(v_org)));
  end loop;
  return v_oldest;
end
$$;
comment on function outbox.oldest_waiting() is
  'The time of the oldest event that waits for the turn of its organisation; null if none does.';

create function outbox.waiting_events(p_limit integer) returns setof uuid
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup, and read_turn()
-- for the ranges of one value.
set enable_seqscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select u.event_id
  from outbox.waiting_part b
  cross join lateral (
    select u.event_id from outbox.unrouted u
    where u.period = b.period and u.org_id >= b.org_id and u.org_id <= b.org_id and u.org_id > ''
    order by u.period, u.org_id, u.event_id limit p_limit
  ) u
  limit p_limit;
end
$$;
comment on function outbox.waiting_events(integer) is
  'Up to p_limit events that wait for the turn of their organisation.';
