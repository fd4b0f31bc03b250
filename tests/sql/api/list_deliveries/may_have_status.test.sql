-- may_have_status() against the view that decides: it leaves out no delivery of a status, whatever its endpoint, its breaker, its lane and its own columns are.
begin;
\ir ../../_helpers.sql
select plan(3);

create temporary table made as
select endpoint(p_breaker => is_enabled) as id, s.status, b.breaker, h.halted
from unnest(array[true, false]) is_enabled, unnest(array['enabled', 'paused', 'disabled', 'deleted']) s (status),
  unnest(array['closed', 'open', 'half_open']) b (breaker), unnest(array[true, false]) h (halted);
select events(24) is null as made_them;
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, leased_until, failed_attempts, lost_leases)
select e.id, m.id, l.id, d.due_at, 2, d.leased_until, d.failed, d.lost
from made m
join outbox.gate g on g.endpoint_id = m.id
join outbox.lane l on l.gate_id = g.id
cross join (
  select row_number() over () as n, * from unnest(array[outbox.clock(), 'infinity']) due_at, unnest(array[null, outbox.clock()]) leased_until,
    unnest(array[0, 1]) failed, unnest(array[0, 1]) lost
) d
join (select id, row_number() over (order by id) as n from outbox.event) e on e.n = d.n;
update outbox.endpoint e set status = m.status from made m where m.id = e.id;
update outbox.gate g set breaker = m.breaker, probe_event = case m.breaker when 'half_open' then gen_random_uuid() end, probe_attempt = case m.breaker when 'half_open' then 1 end from made m where m.id = g.endpoint_id;
update outbox.lane l set halted = true from made m join outbox.gate g on g.endpoint_id = m.id where l.gate_id = g.id and m.halted;

select is(count(*), 768::bigint, 'each state of a delivery with each of its endpoint') from outbox.open_delivery;
select is(array(select distinct o.status from outbox.open_delivery o order by 1), array['cancelled', 'held', 'pending', 'processing', 'retrying'], 'which are all statuses');
select is_empty($$
  select o.status, o.event_id, o.endpoint_id from outbox.open_delivery o
  where o.status in ('pending', 'processing', 'retrying') and not coalesce(outbox.may_have_status(o.event_id, o.endpoint_id, o.status), false)
$$, 'and no delivery of a status is left out');

select * from finish();
rollback;
