-- Claims beside each other. due_gates() wants the gates that have waited longest, and so does each
-- other call at the same time. A call that finds some of them locked takes the next ones instead:
-- otherwise all but one of many workers would get nothing. It keeps the order of turns among the
-- gates that are free. While organisations wait for each other, none gets more than its share; else
-- the rows that the locked gates of one would have given may go to another one.
--
-- An example, checked by tests/concurrency/beside.test.ts: each gate gives 25 deliveries, the batch
-- is 100, and another call has locked the gates a1, b1, c1 and b2 of the organisations a, b and c.
--
--   due_gates() wants   a1 b1 c1 a2      and locks   a2         25 deliveries of a
--   the next ones       b2 c2 a3 b3 c3   and locks   c2 a3 b3   100 deliveries, 50 of a

create type outbox.due_gate as (id bigint, changed_at timestamptz, org_id text);
comment on type outbox.due_gate is 'A due gate, as due_gates() has read it.';

create function outbox.take_others(
  p_gates outbox.due_gate[], p_limit bigint, p_of_org integer, p_taken jsonb, p_now timestamptz
) returns uuid[]
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_gate outbox.due_gate;
  v_endpoint uuid;
  v_most integer;
  v_endpoints uuid[] := array[]::uuid[];
  v_left bigint := p_limit;
  v_of_org bigint;
begin
  -- One by one: how many more are needed depends on which of them are locked.
  foreach v_gate in array p_gates loop
    exit when v_left <= 0;
    if p_taken is not null then
      v_of_org := coalesce((p_taken ->> v_gate.org_id)::bigint, 0);
      continue when v_of_org >= p_of_org;
    end if;
    -- As in due_gates(). A gate that gives no rows, such as a paused one, is left for due_gates().
    select g.endpoint_id, m.most into v_endpoint, v_most
    from outbox.gate g
    cross join lateral (
      select least(
        g.depth, e.quantum, p_of_org, greatest(e.max_in_flight - g.in_flight, 1),
        case when g.breaker = 'closed' then e.quantum else 1 end) as most
      from outbox.endpoint e
      where e.id = g.endpoint_id and e.status = 'enabled' offset 0
    ) m
    where g.id = v_gate.id and g.changed_at >= v_gate.changed_at
      and coalesce(g.next_at, 'infinity') <= p_now and m.most > 0
    order by g.changed_at desc limit 1
    for no key update of g skip locked;
    if found then
      v_endpoints := v_endpoints || v_endpoint;
      v_left := v_left - v_most;
      if p_taken is not null then
        p_taken := p_taken || pg_catalog.jsonb_build_object(v_gate.org_id, v_of_org + v_most);
      end if;
    end if;
  end loop;
  return v_endpoints;
end
$$;
comment on function outbox.take_others(
  outbox.due_gate[], bigint, integer, jsonb, timestamptz) is
  'Locks those of these gates that are not locked, in the order given, as many as give p_limit '
  'rows, and returns their endpoints. p_of_org: how many rows an organisation may have; p_taken: '
  'those that it has, {organisation: n}, or null if one may have all of them. '
  'locks: gates with SKIP LOCKED.';
