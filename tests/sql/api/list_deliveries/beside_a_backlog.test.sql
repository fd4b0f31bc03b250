-- The list behind a number of the overview has its rows on the first page, also beside the backlog of others.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table e as select endpoint('{a.*}', p_org_id => 'own', p_retry => plain_retry(5)) as plain, endpoint('{b.*}', p_org_id => 'own', p_ordering => 'partition', p_retry => plain_retry(5)) as ordered,
  endpoint('{c.*}', p_org_id => 'others') as other;
do $$ begin perform events(3, 'a.b', p_org_id => 'own'), events(2, 'b.c', p_org_id => 'own'), fail(500); end $$;
do $$ begin perform events(2, 'a.c', p_org_id => 'own'), step(1); end $$;
-- Newer, and more than a page reads.
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select outbox.uuid_v7(outbox.clock()), e.other, l.id, outbox.clock(), 2
from e join outbox.gate g on g.endpoint_id = e.other join outbox.lane l on l.gate_id = g.id, generate_series(1, 12000);
update outbox.gate g set depth = 12000 from e where g.endpoint_id = e.other;

create function listed(p_status text) returns text language sql as $$
  select jsonb_array_length(p -> 'data') || ' ' || coalesce(p ->> 'nextCursor', 'end') from outbox.list_deliveries('own', p_status) p
$$;
select is(listed('retrying'), '5 end', 'retries, of an ordered lane too');
select is(listed('processing'), '1 end', 'in flight');
select is(listed('pending'), '1 end', 'those that wait');
select is(listed('open'), '7 end', 'the backlog');
select cmp_ok((outbox.list_deliveries('own', 'open') ->> 'rows')::integer, '<=', 200, 'which costs what it has');
do $$ begin perform outbox.pause_endpoint(plain, 'x') from e; end $$;
select is(listed('held'), '4 end', 'those of a paused endpoint');

-- Page by page.
create temporary table pages as
with recursive p (page, n) as (
  select outbox.list_deliveries('own', 'open', p_limit => 2), 1
  union all
  select outbox.list_deliveries('own', 'open', p_limit => 2, p_cursor => page ->> 'nextCursor'), n + 1 from p where page ->> 'nextCursor' is not null and n < 10
)
select n, r ->> 'id' as id from p, jsonb_array_elements(page -> 'data') r;
select is((select count(distinct id) || ' of ' || count(*) || ' on ' || max(n) from pages), '7 of 7 on 4', 'each once');
select is((select jsonb_array_length(p -> 'data') || ' ' || ((p ->> 'rows')::integer < 200) from outbox.list_deliveries('own', p_due_from => outbox.clock() - interval '1 day') p), '7 true', 'those with a next attempt are open: no other is read');
select is(outbox.few_open('own'), 7, 'so few are read through the endpoints');
select is(outbox.few_open('others'), null, 'many are not');
select * from finish();
rollback;
