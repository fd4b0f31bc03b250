-- The overview reads at most 10,000 attempts, however many there are, and says from when on they are complete.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(9);

insert into outbox.endpoint (org_id, url, created_at, updated_at)
select 'many', 'https://example.com/' || n, outbox.clock() - n * interval '1 second', outbox.clock() from generate_series(1, 4) n;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, duration_ms)
select outbox.uuid_v7(outbox.clock() - n * interval '1 second'), e.id, 1, outbox.clock() - n * interval '1 second', 'attempt', 'delivered', n % 100
from (select id from outbox.endpoint order by created_at desc limit 1) e, generate_series(1, 12000) n;

create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select sum(c.rows) from helper.counters() c);
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c) - v_before;
end
$$;
create temporary table o as select outbox.get_org_overview('many', 1440) as o;
-- Each of the four endpoints has a quarter.
select is(o -> 'attempts' ->> 'total', '2500', 'an endpoint has its share of the attempts that are counted') from o;
select is(o -> 'attempts' -> 'capped', 'true', 'there were more') from o;
select is(o -> 'attempts' ->> 'since', outbox.iso_time(outbox.clock() - interval '2500 seconds'), 'and it says since when they are complete') from o;
select cmp_ok(touched($$select outbox.get_org_overview('many', 1440)$$), '<=', 5200::bigint, 'it looks at no more than these');

select endpoint(p_org_id => 'few') is null as few;
-- Nor does it count more than 10,000 events, nor read more than 10,000 deliveries to find 1,000 retries.
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(outbox.clock() - n * interval '1 s'), 'many', 'a.b', '{}', outbox.clock() - n * interval '1 s' from generate_series(1, 12000) n;
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, failed_attempts)
select outbox.uuid_v7(outbox.clock()), e.id, l.id, outbox.clock() + interval '1 h' - n * interval '100 ms', 2, (n <= 15000 and n > 13000)::integer
from (select id from outbox.endpoint where org_id = 'few') e join outbox.gate g on g.endpoint_id = e.id join outbox.lane l on l.gate_id = g.id, generate_series(1, 30000) n;
update outbox.gate set depth = 30000 where endpoint_id = (select id from outbox.endpoint where org_id = 'few');
update o set o = outbox.get_org_overview('many', 1440);
select is(o -> 'events', jsonb_build_object('total', 10000, 'capped', true, 'since', outbox.iso_time(outbox.clock() - interval '10000.999 s')), 'it says since when the events are counted') from o;
select cmp_ok(touched($$select outbox.get_org_overview('many', 1440)$$), '<=', 15200::bigint, 'it looks at no more than 10,000 of them');
select is(outbox.get_org_overview('few') -> 'retriesDue', '{"total": 0, "capped": true}', 'the next 10,000 deliveries have no retry, and it says that there may be some');
select cmp_ok(touched($$select outbox.get_org_overview('few')$$), '<=', 10100::bigint, 'and no more are read');
do $$ begin perform time_is(outbox.clock() + interval '25 min'); end $$;
select is(outbox.get_org_overview('few') -> 'retriesDue', '{"total": 1000, "capped": true}', 'retries are counted up to 1,000');

select * from finish();
rollback;
