-- Gates and lanes: which endpoint may be served next. A gate is one row per endpoint. A lane is a
-- queue under a gate: one for an unordered endpoint; for an ordered one, one per partition key, or
-- one in all. next_at of a lane is the time at which claim() reads its deliveries, and next_at of a
-- gate the time at which claim() reads its lanes. The gates in the order of next_at are the ring:
-- claim() takes the due gates, the oldest first, and puts each at the back. A gate whose next_at is
-- in the future costs a claim nothing, even if it has a million deliveries.
--
-- When a lane is due. "now" is p_now, "never" is infinity.
--
--   change                unordered lane                  ordered lane
--   delivery created      earlier of next_at and the      if it was empty or never due, and is not
--                         delivery's due_at               halted: the later of now and not_before
--   claimed               now if free rows are left; else end of the lease
--                         first lease end or due_at
--   read, nothing free    first lease end or due_at;      the same
--                         never without both
--   lease renewed         -                               new end of the lease
--   result: delivered     unchanged; never if empty       never if empty or halted; unchanged while
--   result: failed        earlier of next_at and retry    a row of it is leased; else the latest of
--   result: released      earlier of next_at and now      now, the retry (not_before) and the end
--   result: dead letter   unchanged; never if empty       of lane_spacing_ms
--   delivery set aside    earlier of next_at and now      as for a dead letter
--   lease refused         unchanged; the next read sets   the time of the next attempt; if it is
--                         the time of the next attempt    set aside, unchanged or never (halted)
--   rest_lane()           -                               not before the time given
--   schedule_retry()      earlier of next_at and the      the time given; unchanged if halted or
--                         time given                      leased
--   cancelled, expired    unchanged; never if empty       of the first row: the retry of the next
--                                                         row, or now; never if empty
--   resume_lane()         -                               the later of now and not_before; never if
--                                                         empty; unchanged if leased
--   isolated              earlier of next_at and due_at   unchanged
--   replayed              earlier of next_at and now      - (replays have an unordered lane)
--
-- When a gate is due: park() decides, in the transaction of each change (see engine/queue/park).
-- Two other functions set it. refuse_endpoint() sets 10 s to 5 min if the database refuses a claim.
-- The tick sets now for an endpoint that was changed in the last 6 s (wake_changed) and for a gate
-- before the start of the ring (wake_missed); it calls park() again for a refused endpoint
-- (wake_refused).
--
-- Isolated lanes. After its second lost lease in a row, a delivery is sent alone: by a run that
-- holds nothing else. It moves to the isolated lane of its gate; an ordered lane is itself isolated
-- until this delivery has ended. isolated_at of a gate is next_at for these lanes: only
-- claim_isolated() reads them.
--
-- Locks. A transaction that changes a gate, its lanes or its deliveries holds the row lock of the
-- gate. dispatch() locks all gates that it waits for in one statement, by id. After that it takes
-- gates with SKIP LOCKED only, in any order. Postgres may wait even so: if a change of the row
-- commits just while SKIP LOCKED looks at it, the next version of the row is locked too, and if
-- somebody has that one, it waits (heap_lock_updated_tuple() of Postgres 15 and 17, in heapam.c).
-- Two calls may then wait for each other: once in about 15,000 calls of four sessions that cross on
-- 20 gates, with both cores busy. So functions that lock gates with SKIP LOCKED, or those that call
-- them, have a lock_timeout, shorter than the time after which Postgres looks for a deadlock
-- (deadlock_timeout, 1 s). Their error 55P03 means that gates are locked. A second look sees the
-- new version.
--
-- Keys. Gates and lanes change all the time. A transaction that stays open, such as a dump or a
-- report, keeps every version of their rows: thousands of each within ten minutes. A lookup by a
-- constant key reads all of these versions, and so does the check of a unique index. So changed_at,
-- the second of the last change, is part of these keys, and a lookup takes the newest (order by
-- changed_at desc limit 1). Bitmap scans are off for these lookups, because they read and sort all
-- versions. Only add_gate() and the holder of the gate insert rows, so an id has one live row. A
-- scan of due rows starts at a stored time for the same reason: lanes_from of a gate, ring.from_at.
--
-- Measured by tests/bench/dispatch.ts (2 cores, Postgres 15, fsync on): a call that records 400
-- results and claims 400 deliveries of 16 gates takes 15 to 17 ms, whether 100,000 or 5 million
-- deliveries are open or 1 million are in one lane; 23 ms with 100,000 lanes in one gate. With 400
-- gates it takes 77 ms of CPU time, 190 us for each: park() 30 %, as each gate passes it twice,
-- the leases 26 %, the results 20 %, due_gates() 8 %, the locks 4 %. The cost is in many lookups
-- and row versions, not in one statement. One version less of each gate, and fewer index entries of
-- lanes (see lease_deliveries()), took 10 % of the CPU time and 20 % of the WAL. A gate whose
-- endpoint the run does not know yet costs 10 us more, and 100 us with a secret in the Vault of the
-- local stack.

create table outbox.gate (
  id bigint generated always as identity,
  endpoint_id uuid not null,
  changed_at timestamptz not null default 'epoch',
  next_at timestamptz not null default 'infinity',
  lanes_from timestamptz not null default '-infinity',
  in_flight integer not null default 0
    constraint gate_in_flight_is_not_negative check (in_flight >= 0),
  depth bigint not null default 0 constraint gate_depth_is_not_negative check (depth >= 0),
  not_before timestamptz not null default '-infinity',
  last_timed_out boolean not null default false,
  tokens double precision not null default 0,
  tokens_at timestamptz not null default 'epoch',
  breaker text not null default 'closed'
    constraint gate_breaker_is_known check (breaker in ('closed', 'open', 'half_open')),
  streak integer not null default 0,
  first_failure_at timestamptz,
  open_until timestamptz not null default '-infinity',
  probe_event uuid,
  probe_attempt integer,
  ramp_from timestamptz not null default 'epoch',
  isolated_at timestamptz not null default 'infinity',
  org_id text not null,
  secret_id uuid,
  constraint gate_has_a_probe_when_half_open check (
    (breaker = 'half_open') = (probe_event is not null and probe_attempt is not null)
  ),
  primary key (id, changed_at)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.gate is
  'One row per endpoint. next_at: its place in the ring; lanes_from: no lane is due before; '
  'in_flight: requests in flight; depth: open deliveries; not_before: no request before, because '
  'of a Retry-After; tokens: requests that its rate still allowed at tokens_at (next_token_at()); '
  'streak: consecutive failures; a half_open breaker waits for the result of its one probe; '
  'last_timed_out: it gets one request at a time until one succeeds, because its last one timed '
  'out or its server could not be reached; isolated_at: when a delivery of an isolated lane may be '
  'claimed; org_id: of the endpoint; secret_id: the secret of X-Signature that the '
  'receiver accepted after it had rejected another one; null: signing_secret() decides.';
create index gate_of_endpoint on outbox.gate (endpoint_id, changed_at);
-- With a parameter, the planner uses this index only if the query repeats the predicate literally.
create index gate_due on outbox.gate (next_at) where next_at < 'infinity';
create index gate_isolated on outbox.gate (isolated_at) where isolated_at < 'infinity';

create table outbox.lane (
  id bigint generated always as identity,
  gate_id bigint not null,
  ordered boolean not null,
  key_hash bigint not null default 0,
  changed_at timestamptz not null default 'epoch',
  next_at timestamptz not null default 'infinity',
  not_before timestamptz not null default '-infinity',
  head_at timestamptz not null default '-infinity',
  tail_at timestamptz not null default '-infinity',
  leased integer not null default 0 constraint lane_leased_is_not_negative check (leased >= 0),
  leased_until timestamptz,
  halted boolean not null default false,
  depth bigint not null default 0 constraint lane_depth_is_not_negative check (depth >= 0),
  isolated boolean not null default false,
  primary key (id, changed_at)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.lane is
  'A queue under a gate. head_at: no delivery of the lane is due before, so a claim skips '
  'the dead entries of its index; leased: how many of its deliveries are leased; '
  'leased_until: the end of the first of these leases, or earlier, until record_lost_leases() '
  'sets it again. Only in an ordered lane: tail_at is the last due_at that routing assigned, '
  'not_before delays the whole lane for a retry, and halted stops it after a dead letter '
  'until resume_lane(). isolated: its first delivery has lost two leases and is sent alone. An '
  'unordered lane with a key_hash belongs to the replay job of that number; -1: the isolated '
  'deliveries.';
create index lane_of_gate on outbox.lane (gate_id, ordered, key_hash, changed_at);
create index lane_due on outbox.lane (gate_id, next_at) where next_at < 'infinity';
-- A lookup of isolated lanes does not repeat the predicate of lane_due, whose entries for the other
-- lanes it would read.
create index lane_isolated on outbox.lane (gate_id, next_at) where isolated;

create table outbox.ring (from_at timestamptz primary key default '-infinity');
comment on table outbox.ring is
  'One row, the start of the ring: no gate is due before from_at. Exceptions: a change that took '
  'more than 1 s to commit, which the tick finds within 1 s, or within 1 min if it took more than '
  '15 s; and a clock that was set back (1 min). The key changes with each update: the check of a '
  'constant key would read the dead rows.';
insert into outbox.ring default values;

create function outbox.ring_from(p_now timestamptz) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from timestamptz := (select r.from_at from outbox.ring r order by r.from_at desc limit 1);
begin
  -- If the clock was set back, from_at may be later than all due gates: read all of the ring.
  return case when v_from <= p_now - interval '1 s' then v_from else '-infinity' end;
end
$$;
comment on function outbox.ring_from(timestamptz) is
  'The next_at at which to start to read the ring, so that dead entries of its index are skipped.';

create function outbox.turn_ring(p_from timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.ring r set from_at = p_from
  where r.ctid = (
    select o.ctid from outbox.ring o order by o.from_at desc limit 1 for no key update skip locked);
  -- Somebody may have deleted the row.
  if not found
    and (select r.from_at from outbox.ring r order by r.from_at desc limit 1) is null
  then
    insert into outbox.ring (from_at) values (p_from) on conflict do nothing;
  end if;
end
$$;
comment on function outbox.turn_ring(timestamptz) is
  'Sets the start of the ring, unless another call is setting it.';

create function outbox.key_hash(p_ordering text, p_partition_key text) returns bigint
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_ordering = 'partition' then pg_catalog.hashtextextended(coalesce(p_partition_key, ''), 0)
    else 0
  end;
end
$$;
comment on function outbox.key_hash(text, text) is
  'The key_hash of a delivery''s lane: the hash of the partition key if the ordering is partition, '
  'else 0.';

create function outbox.add_gate(p_endpoint_id uuid, p_ordering text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_gate bigint;
begin
  insert into outbox.gate (endpoint_id, org_id)
  select e.id, e.org_id from outbox.endpoint e where e.id = p_endpoint_id
  returning id into v_gate;
  if p_ordering = 'none' then
    insert into outbox.lane (gate_id, ordered) values (v_gate, false);
  end if;
end
$$;
comment on function outbox.add_gate(uuid, text) is
  'Creates the gate of a new endpoint and, if it is unordered, its lane, which is never deleted.';

create function outbox.lock_gates(p_endpoint_ids uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  perform from (
    select n.id
    from pg_catalog.unnest(p_endpoint_ids) e
    cross join lateral (
      select g.id from outbox.gate g where g.endpoint_id = e order by g.changed_at desc limit 1
    ) n
    order by n.id
  ) o
  cross join lateral (
    select from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
    for no key update
  ) g;
end
$$;
comment on function outbox.lock_gates(uuid[]) is
  'Locks the gates of these endpoints in the order of their ids, and waits for them.';

create function outbox.try_lock_gates(p_endpoint_ids uuid[]) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set lock_timeout = '20ms'
as $$
begin
  return array(
    select g.endpoint_id
    from (
      select n.id
      from pg_catalog.unnest(p_endpoint_ids) e
      cross join lateral (
        select g.id from outbox.gate g where g.endpoint_id = e order by g.changed_at desc limit 1
      ) n
      order by n.id
    ) o
    cross join lateral (
      select g.endpoint_id from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
      for no key update skip locked
    ) g);
exception when lock_not_available then
  return '{}'::uuid[];
end
$$;
comment on function outbox.try_lock_gates(uuid[]) is
  'Locks those gates of these endpoints that are not locked, and returns their endpoints; none of '
  'them if it would have to wait for more than 20 ms (see the head of gate).';

create function outbox.lock_free_gates(p_endpoint_ids uuid[], p_held uuid[]) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set lock_timeout = '100ms'
as $$
declare
  v_locked uuid[] := array(
    select e from pg_catalog.unnest(p_endpoint_ids) e where e <> all (p_held));
  v_others uuid[];
begin
  begin
    perform outbox.lock_gates(v_locked);
  exception when lock_not_available then
    v_locked := '{}';
  end;
  v_others := array(
    select e from pg_catalog.unnest(p_endpoint_ids) e where e <> all (v_locked));
  return v_locked || outbox.try_lock_gates(v_others) || array(
    select e from pg_catalog.unnest(v_others) e
    where not exists (select from outbox.gate g where g.endpoint_id = e));
end
$$;
comment on function outbox.lock_free_gates(uuid[], uuid[]) is
  'Locks the gates of these endpoints by id, and waits for each that is not of p_held, 100 ms at '
  'most. After a wait that was too long, or of p_held, it locks those that are not locked. Returns '
  'their endpoints, and those that have no gate.';

create function outbox.replay_lane(p_gate_id bigint, p_job bigint) returns outbox.lane
language plpgsql set search_path = ''
as $$
declare
  v_lane outbox.lane;
begin
  select *
  into v_lane
  from outbox.lane l
  where l.gate_id = p_gate_id and not l.ordered and l.key_hash = p_job
  order by l.changed_at desc limit 1;
  if not found then
    insert into outbox.lane (gate_id, ordered, key_hash, isolated)
    values (p_gate_id, false, p_job, p_job = -1)
    returning * into v_lane;
  end if;
  return v_lane;
end
$$;
comment on function outbox.replay_lane(bigint, bigint) is
  'The unordered lane of a gate for a replay job, created if it does not exist; 0 is the lane of '
  'single replays and, at an unordered endpoint, of new deliveries; -1 is the isolated lane. '
  'locks: the caller holds the gate.';
