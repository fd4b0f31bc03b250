-- Gates and lanes: who may be served next. A gate is one row per endpoint, and its next_at is its
-- place in the ring of fairness: claim() takes the gates that are due, oldest first, and puts each
-- at the back. A gate with nothing to do, or that may not be served, leaves the ring by its next_at
-- alone, so that a million deliveries behind a sleeping endpoint cost nobody anything. Under a gate
-- lie its lanes, each an order queue: one for an unordered endpoint, one per partition key for an
-- ordered one.
--
-- Whoever changes a gate, its lanes or its deliveries holds the row lock of the gate. dispatch(),
-- which changes all three at once, locks every gate that it waits for in one statement, by id.
--
-- Gates and lanes change all the time, and a transaction that somebody leaves open, a dump or a
-- report, keeps every version of their rows: some thousand of each within ten minutes, all of which
-- a look-up by a key that never changes would walk, and so would the check of a unique index. So
-- changed_at, the second of the last change, is in these keys, and a look-up takes the newest
-- (order by changed_at desc limit 1; a bitmap scan would read all of them and sort, whatever the
-- statistics make of it, so it is off wherever that is done). It is the unique row of its id
-- because only add_gate() and the holder of the gate insert any. A ring is read from where its
-- first live entry is: lanes_from in a gate, and from_at in ring.
--
-- Measured by tests/bench/dispatch.ts (2 cores, Postgres 15, fsync on): to record 400 results
-- and claim 400 of 16 gates, a call takes 15 to 17 ms whether 100,000 or 5 million wait, or 1
-- million in one lane; of 100,000 lanes of one gate 23 ms; of 400 gates 80 ms. So neither what
-- waits nor a long lane costs anything; a gate whose endpoint the run does not know costs 160 us.

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
  constraint gate_has_a_probe_when_half_open check (
    (breaker = 'half_open') = (probe_event is not null and probe_attempt is not null)
  ),
  primary key (id, changed_at)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.gate is
  'One row per endpoint: its place in the ring (next_at), from when on its lanes are due '
  '(lanes_from: none is earlier), how many requests are under way, how many deliveries are open, '
  'until when it must be left alone (not_before: the receiver asked for quiet), what is left of '
  'its rate (tokens, as they were at tokens_at: next_token_at()), and its breaker: streak counts '
  'consecutive failures, and half_open waits for the one probe.';
create index gate_of_endpoint on outbox.gate (endpoint_id, changed_at);
-- A plan proves that a parameter fits this predicate only when the query repeats it word for word.
create index gate_due on outbox.gate (next_at) where next_at < 'infinity';

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
  primary key (id, changed_at)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.lane is
  'An order queue under a gate. No delivery of the lane is due before head_at, so that a claim '
  'starts behind the dead entries of its index. leased: how many of its deliveries runs hold; '
  'leased_until: when the first of these leases ends, or earlier: lose_leases() looks then, and '
  'notes the next. Of an ordered lane, tail_at is the last '
  'due_at that routing gave out, not_before holds the whole lane back for a retry, and halted '
  'stops it behind a dead letter until resume_lane(). An unordered lane with a key_hash belongs '
  'to the replay job of that number.';
create index lane_of_gate on outbox.lane (gate_id, ordered, key_hash, changed_at);
create index lane_due on outbox.lane (gate_id, next_at) where next_at < 'infinity';

create table outbox.ring (from_at timestamptz primary key default '-infinity');
comment on table outbox.ring is
  'One row, where the ring begins: no gate is due before from_at, save one whose change took '
  'longer than a second to commit, which the tick finds within another, or longer than 15 s or '
  'was made while the clock was set back, which it finds within a minute. No key that stays the '
  'same, or its check would walk the dead rows.';
insert into outbox.ring default values;

create function outbox.ring_from(p_now timestamptz) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from timestamptz := (select r.from_at from outbox.ring r order by r.from_at desc limit 1);
begin
  -- Later than that only when the clock was set back: what has been noted since lies before it.
  return case when v_from <= p_now - interval '1 s' then v_from else '-infinity' end;
end
$$;
comment on function outbox.ring_from(timestamptz) is
  'Where to begin to read the ring: behind the dead entries of its index.';

create function outbox.turn_ring(p_from timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.ring r set from_at = p_from
  where r.ctid = (
    select o.ctid from outbox.ring o order by o.from_at desc limit 1 for no key update skip locked);
end
$$;
comment on function outbox.turn_ring(timestamptz) is
  'Notes where the ring begins, unless another call is doing so.';

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
  'Which lane of its gate a delivery belongs to: the hash of the partition key where each key '
  'has its own order, else 0.';

create function outbox.add_gate(p_endpoint_id uuid, p_ordering text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_gate bigint;
begin
  insert into outbox.gate (endpoint_id) values (p_endpoint_id) returning id into v_gate;
  if p_ordering = 'none' then
    insert into outbox.lane (gate_id, ordered) values (v_gate, false);
  end if;
end
$$;
comment on function outbox.add_gate(uuid, text) is
  'The gate of a new endpoint, with the lane that an unordered one keeps for ever.';

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
  'Waits for the gates of these endpoints, in the order of their ids: the one waiting lock of a '
  'transaction.';

create function outbox.try_lock_gates(p_endpoint_ids uuid[]) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
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
end
$$;
comment on function outbox.try_lock_gates(uuid[]) is
  'Locks those gates of these endpoints that nobody holds, and returns their endpoints: it waits '
  'for nobody.';

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
    insert into outbox.lane (gate_id, ordered, key_hash) values (p_gate_id, false, p_job)
    returning * into v_lane;
  end if;
  return v_lane;
end
$$;
comment on function outbox.replay_lane(bigint, bigint) is
  'The unordered lane of a gate that belongs to a replay job; 0 is the lane of single replays '
  'and of what is live. locks: the caller holds the gate.';
