-- Lanes that the database refuses to change, because of a trigger of the user, a constraint or a
-- damaged row. Nothing of such a lane can be claimed, but the other lanes of its endpoint can: each
-- claim leaves it out until again_at, and park() counts it as due then. refuse_lanes() finds them.

create table outbox.lane_refusal (
  lane_id bigint primary key,
  endpoint_id uuid not null,
  failures integer not null,
  sqlstate text not null,
  error text not null,
  at timestamptz not null,
  again_at timestamptz not null
);
comment on table outbox.lane_refusal is
  'Lanes (partition keys of ordered endpoints, and the lanes of unordered ones) whose row the '
  'database refuses to change. Claims leave them out until again_at: 10 s at first, twice as long '
  'after each refusal, 5 minutes at most.';
create index lane_refusal_endpoint on outbox.lane_refusal (endpoint_id);

create function outbox.is_left_out(p_lane_id bigint, p_now timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return coalesce((
    select r.again_at > p_now from outbox.lane_refusal r where r.lane_id = p_lane_id), false);
end
$$;
comment on function outbox.is_left_out(bigint, timestamptz) is
  'Whether claims leave a lane out, because the database refuses to change its row.';

create function outbox.lane_due_at(
  p_gate_id bigint, p_from timestamptz, p_isolated boolean, p_now timestamptz
) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return coalesce(least(
    (select l.next_at from outbox.lane l
     where l.gate_id = p_gate_id and l.next_at >= p_from and l.next_at < 'infinity'
       and l.isolated = p_isolated and not outbox.is_left_out(l.id, p_now)
     order by l.next_at limit 1),
    (select pg_catalog.min(greatest(l.next_at, r.again_at))
     from outbox.gate g
     join outbox.lane_refusal r on r.endpoint_id = g.endpoint_id and r.again_at > p_now
     join outbox.lane l on l.id = r.lane_id and l.next_at < 'infinity' and l.isolated = p_isolated
     where g.id = p_gate_id)), 'infinity');
end
$$;
comment on function outbox.lane_due_at(bigint, timestamptz, boolean, timestamptz) is
  'When the first lane of a gate may be claimed from: of the lanes that are due at p_from or '
  'later, and of those that are left out, which may be tried again at again_at; infinity if there '
  'is none.';

create function outbox.stuck_requests(p_gate_id bigint) returns integer
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return (
    select coalesce(pg_catalog.sum(case when l.ordered then 1 else l.leased end), 0)
    from outbox.gate g
    join outbox.lane_refusal r on r.endpoint_id = g.endpoint_id
    join outbox.lane l on l.id = r.lane_id and l.leased > 0 and l.leased_until < r.at
    where g.id = p_gate_id);
end
$$;
comment on function outbox.stuck_requests(bigint) is
  'How many requests in flight a gate counts for leases that have ended in lanes that are left '
  'out. They cannot be recorded as lost, and must not use up max_in_flight.';

create function outbox.refuse_lane(
  p_lane_id bigint, p_endpoint_id uuid, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  insert into outbox.lane_refusal as r (
    lane_id, endpoint_id, failures, sqlstate, error, at, again_at)
  values (p_lane_id, p_endpoint_id, 1, p_sqlstate, pg_catalog.left(p_error, 500), p_now,
    p_now + interval '10 s')
  on conflict (lane_id) do update set
    failures = r.failures + 1, sqlstate = excluded.sqlstate, error = excluded.error,
    at = excluded.at,
    again_at = p_now + least(interval '5 minutes', interval '10 s' * 2 ^ least(r.failures, 6));
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  -- Without the row, each claim meets the lane again: the endpoint is refused.
  raise warning 'outbox: the refusal of lane % of endpoint % (% %) cannot be recorded: % %',
    p_lane_id, p_endpoint_id, p_sqlstate, p_error, sqlstate, sqlerrm;
end
$$;
comment on function outbox.refuse_lane(bigint, uuid, text, text, timestamptz) is
  'Leaves a lane out of claiming for a while. locks: the caller holds the gate, and parks it '
  'afterwards.';

create function outbox.admit_lanes(p_endpoint_ids uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  if exists (select from outbox.lane_refusal) then
    delete from outbox.lane_refusal r
    where r.endpoint_id = any (p_endpoint_ids)
      and coalesce((
        select l.changed_at from outbox.lane l
        where l.id = r.lane_id order by l.changed_at desc limit 1), 'infinity') > r.at;
  end if;
end
$$;
comment on function outbox.admit_lanes(uuid[]) is
  'Removes the refusals of lanes of these endpoints that were changed or removed since.';
