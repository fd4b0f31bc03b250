-- A page, and the numbers of an endpoint, cost the same however many endpoints and attempts there are.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(10);

insert into outbox.endpoint (org_id, url, created_at, updated_at)
select 'many', 'https://example.com/' || n, outbox.clock() - n * interval '1 second', outbox.clock() from generate_series(1, 20000) n;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, duration_ms)
select gen_random_uuid(), e.id, 1, outbox.clock() - n * interval '1 second', 'attempt', 'delivered', n % 100
from (select id from outbox.endpoint order by created_at desc limit 2) e, generate_series(1, 12000) n;

create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select sum(c.rows) from helper.counters() c);
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c) - v_before;
end
$$;
create temporary table page as select outbox.list_org_endpoints('many', null, 100) as p;
select is(jsonb_array_length(p -> 'data'), 100, 'a page of 100') from page;
select cmp_ok(touched('select outbox.list_org_endpoints(''many'', null, 100)'), '<=', 250::bigint, 'the first page looks at its own rows and their kinds');
select cmp_ok(touched(format('select outbox.list_org_endpoints(''many'', %L, 100)', p ->> 'nextCursor')), '<=', 250::bigint, 'and so does the next')
from page;

-- A search reads what is newer than the last row of its page.
select is(outbox.list_org_endpoints('many', p_search => 'COM/77', p_limit => 2) #>> '{data,1,url}', 'https://example.com/770', 'a search finds a part of the URL, whatever its letters');
select cmp_ok(touched('select outbox.list_org_endpoints(''many'', p_search => ''com/77'', p_limit => 2)'), '<=', 7800::bigint, 'and reads no further than its page');
select is(outbox.list_org_endpoints('many', p_search => 'none'), '{"data": [], "nextCursor": null, "rows": 20000}', 'or nothing, and says how many endpoints it has read');
select cmp_ok(touched('select outbox.list_org_endpoints(''many'', p_search => ''none'')'), '<=', 20100::bigint, 'having read all endpoints of the organisation');
create temporary table first as select id from outbox.endpoint order by created_at desc limit 1;
select is(s -> 'attempts' ->> 'capped' || ' ' || (s -> 'attempts' ->> 'total'), 'true 10000', 'stats count the last 10,000 attempts')
from first, outbox.get_org_stats('many', id) s;
select is(s -> 'attempts' ->> 'since', outbox.iso_time(outbox.clock() - interval '10000 seconds'), 'and say since when') from first, outbox.get_org_stats('many', id) s;
select cmp_ok(touched(format('select outbox.get_org_stats(''many'', %L)', id)), '<=', 10100::bigint, 'and look at no more') from first;

select * from finish();
rollback;
