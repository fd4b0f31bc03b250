-- A wide event whose filters keep it back: it is without a subscriber only when nobody at all wanted it.
begin;
\ir ../../_helpers.sql
select plan(6);

create function wide(p_org_id text, p_count integer, p_from integer, p_filter text) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (id, org_id, url, created_at, updated_at)
  select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, p_org_id, 'https://example.com/' || n, outbox.clock(), outbox.clock()
  from generate_series(p_from, p_from + p_count - 1) n;
  insert into outbox.subscription (org_id, pattern, endpoint_id, filter, created_at)
  select p_org_id, '*', e.id, p_filter::jsonpath, e.created_at from outbox.endpoint e
  where e.org_id = p_org_id and not exists (select from outbox.subscription s where s.endpoint_id = e.id);
  perform outbox.add_gate(e.id, 'none') from outbox.endpoint e
  where e.org_id = p_org_id and not exists (select from outbox.gate g where g.endpoint_id = e.id);
end
$$;
-- 2,000 is what one call makes.
select wide('nobody', 2100, 1, '$.never == 1');
select wide('some', 2000, 10001, null), wide('some', 100, 20001, '$.never == 1');

create temporary table nobody as select outbox.publish('a', '{}', 'nobody') as id;
do $$ begin perform step(0), step(0); end $$;
select is_empty('select from outbox.unrouted', 'two calls look at all of it');
select is((select count(*) from outbox.delivery), 0::bigint, 'nobody wants it');
select results_eq('select kind, outcome from outbox.attempt', $$values ('close', 'no_subscriber')$$, 'and its attempt says so');

create temporary table few as select outbox.publish('a', '{}', 'some') as id;
do $$ begin perform step(0), step(0); end $$;
select is_empty('select from outbox.unrouted', 'two calls look at all of the other one');
select is((select count(*) from outbox.delivery), 2000::bigint, 'the first 2,000 get it');
select is((select count(*) from outbox.attempt a join few on a.event_id = few.id), 0::bigint, 'it has subscribers, though the last part of them does not want it');

select * from finish();
rollback;
