-- The overview reads at most 10,000 attempts, however many there are, and says from when on they are complete.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(4);

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

select * from finish();
rollback;
