-- An event for more endpoints than one call makes deliveries of goes on where it stopped.
begin;
\ir ../../_helpers.sql
select plan(20);

-- 4,500 endpoints, written straight into the tables: Vault would take most of the test's time.
insert into outbox.endpoint (org_id, url, created_at, updated_at)
select 'wide', 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, 4500) n;
insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
select 'wide', '*', e.id, e.created_at from outbox.endpoint e where e.org_id = 'wide';
do $$ begin perform outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.org_id = 'wide'; end $$;
select endpoint('{*}', p_org_id => 'narrow');

create temporary table given as
select outbox.publish('a', '{}', 'narrow') as first_one;
select time_passes('1 microsecond');
create temporary table wide as select outbox.publish('a', '{}', 'wide') as id;
select time_passes('1 microsecond');
create temporary table last_one as select outbox.publish('a', '{}', 'narrow') as id;
create function made() returns integer language sql as $$
  select count(*)::integer from outbox.delivery d join wide w on w.id = d.event_id
$$;

select is(step(0) -> 'routed', '2000', 'the first call makes 2,000 deliveries');
select is(made(), 1998, 'the two events of an organisation with one endpoint take their part of them');
select is_empty('select from outbox.unrouted u join given g on g.first_one = u.event_id', 'the event before is finished with');
select is((select u.routed_to from outbox.unrouted u join wide w on w.id = u.event_id),
  (select max(d.endpoint_id::text)::uuid from outbox.delivery d join wide w on w.id = d.event_id), 'the row says how far it has come');
select is((select watermark from outbox.router), (select id from last_one), 'the watermark is the last event read');
select is((select count(*)::integer from outbox.unrouted), 1, 'only the wide event waits');
select ok(outbox.has_unrouted(), 'there is more to route');

-- So that the organisations do not share the next call.
select time_passes('6 s');
select is(step(0) -> 'routed', '2000', 'the second call goes on');
select is(made(), 3998, 'with other endpoints');
select time_passes('6 s');
select is(step(0) -> 'routed', '502', 'the third call makes the rest');
select is(made(), 4500, 'every endpoint has its delivery');
select is_empty('select from outbox.unrouted', 'the events are finished with');
select is((select watermark from outbox.router), (select id from last_one), 'the watermark has passed them');
select is_empty('select from outbox.attempt', 'none is said to have no subscriber');
select ok(not outbox.has_unrouted(), 'there is nothing left to route');
select is_empty('select * from miscounts()', 'the counters are right');

-- An event whose deliveries fill calls to the last.
create temporary table full_one as select outbox.publish('a', '{}', 'wide') as id;
delete from outbox.subscription s where s.endpoint_id in (
  select e.id from outbox.endpoint e where e.org_id = 'wide' order by e.id limit 500);
select is(step(0) -> 'routed', '2000', 'of 4,000 deliveries the first call makes 2,000');
select is(step(0) -> 'routed', '2000', 'and the second the other 2,000');
select is_empty('select from outbox.unrouted', 'without a third call');
select is_empty('select from outbox.attempt', 'and without a closing row');

select * from finish();
rollback;
