-- A page of attempts is full however many endpoints are quiet, and bounded however many ends without an attempt there
-- are: these are rows of the same table.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(14);

select time_is(now());
insert into outbox.endpoint (org_id, url, created_at, updated_at)
select 'many', 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, 2000) n;
create temporary table busy as select id from outbox.endpoint where org_id = 'many' order by id desc limit 1;
-- One endpoint with 5,000 of the last minutes, of which each hundredth failed, and 1,999 with three of yesterday.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), id, 1, outbox.clock() - k * interval '1 ms', 'attempt', case when k % 100 = 0 then 'failed' else 'delivered' end
from busy, generate_series(1, 5000) k;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), e.id, 1, outbox.clock() - interval '1 day' - k * interval '1 s', 'attempt', 'delivered'
from outbox.endpoint e cross join generate_series(1, 3) k where e.id <> (select id from busy);
analyze outbox.attempt, outbox.endpoint;

create temporary table page as select outbox.list_org_attempts('many') as p;
select is(jsonb_array_length(p -> 'data'), 50, 'with 2,000 endpoints a page is full') from page;
select is((select count(*) from jsonb_array_elements(p -> 'data') r where r ->> 'endpointId' = (select id::text from busy)), 50::bigint, 'with those of the busy one') from page;
select is(p -> 'data' -> 49 ->> 'at', outbox.iso_time(outbox.clock() - interval '50 ms'), 'which are the newest of all') from page;
select cmp_ok((p ->> 'rows')::bigint, '<=', 8100::bigint, 'the quiet ones are read once') from page;
update page set p = outbox.list_org_attempts('many', p_cursor => p ->> 'nextCursor');
select is(p -> 'data' -> 0 ->> 'at', outbox.iso_time(outbox.clock() - interval '51 ms'), 'the next page goes on there') from page;
update page set p = outbox.list_org_attempts('many', 'failed');
select is(jsonb_array_length(p -> 'data'), 50, 'one page has all that failed') from page;
select is(p -> 'data' -> 49 ->> 'at', outbox.iso_time(outbox.clock() - interval '5 s'), 'down to the oldest') from page;
-- More were delivered today than a page reads, so it ends where it is complete, before the failures of yesterday.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), b.id, 1, outbox.clock() - interval '1 min' - k * interval '1 ms', 'attempt', 'delivered' from busy b, generate_series(1, 20000) k;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), e.id, 1, outbox.clock() - interval '1 day', 'attempt', 'failed' from outbox.endpoint e where e.org_id = 'many' and e.id <> (select id from busy);
select is(jsonb_array_length(outbox.list_org_attempts('many', 'failed', p_to => outbox.clock() - interval '30 s') -> 'data'), 0, 'no attempt of yesterday before all of today are read');

-- A backlog of 30,000 was cancelled at once, and 30,000 events one after the other did not pass a filter.
create temporary table noisy as select endpoint(p_org_id => 'few') as id;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select gen_random_uuid(), id, 0, case when k % 2 = 0 then outbox.clock() - interval '1 s' else outbox.clock() - interval '2 s' - k * interval '1 ms' end,
  'close', case when k % 2 = 0 then 'cancelled' else 'filter_error' end
from noisy, generate_series(1, 60000) k;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select outbox.uuid_v7(outbox.clock()), id, 1, outbox.clock() - k * interval '1 h', 'attempt', 'delivered' from noisy, generate_series(1, 3) k;
analyze outbox.attempt;
create function walk_pages(out n bigint, out pages integer, out most bigint, out touched bigint) language plpgsql as $$
declare
  v_page jsonb;
  v_cursor text;
  v_before bigint;
begin
  n := 0;
  pages := 0;
  loop
    v_before := (select sum(c.rows) from helper.counters() c);
    v_page := outbox.list_org_attempts('few', p_cursor => v_cursor);
    touched := greatest(touched, (select sum(c.rows) from helper.counters() c) - v_before);
    n := n + jsonb_array_length(v_page -> 'data');
    pages := pages + 1;
    most := greatest(most, (v_page ->> 'rows')::bigint);
    v_cursor := v_page ->> 'nextCursor';
    exit when v_cursor is null or pages > 100;
  end loop;
end
$$;
create temporary table walked as select w.* from walk_pages() w;
select is(n, 3::bigint, 'the attempts behind them are found') from walked;
select cmp_ok(most, '<=', 16000::bigint, 'no page reads more than its bound') from walked;
select cmp_ok(touched, '<=', 16500::bigint, 'nor touches more') from walked;
select cmp_ok(pages, '<=', 6, 'so it takes few pages') from walked;

-- The overview has the same bound.
create temporary table o as select outbox.get_org_overview('few', 1440) as o, 0::bigint as touched;
select is(o -> 'attempts' -> 'capped', 'true', 'the overview says that it has not read all') from o;
create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select sum(c.rows) from helper.counters() c);
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c) - v_before;
end
$$;
select cmp_ok(touched($$select outbox.get_org_overview('few', 1440)$$), '<=', 10300::bigint, 'and reads 10,000 of them');
select * from finish();
rollback;
