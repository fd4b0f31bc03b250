-- How routing reads: in the order of ids, a batch at a time, each row once.
begin;
\ir ../../_helpers.sql
select plan(19);

create temporary table ours as select endpoint('{*}') as id;
create function left_over() returns integer language sql as $$ select count(*)::integer from outbox.unrouted $$;

update outbox.router set batch = 3 where true;
do $$ begin perform outbox.set_setting('route.batch_size', '3'); end $$;
create temporary table given as select events(8) as ids;
select is(step(0) -> 'routed', '3', 'one call routes one batch');
select set_eq('select event_id from outbox.delivery', (select ids[1:3] from given), 'the oldest first');
select is((select watermark from outbox.router), (select ids[8] from given), 'the watermark is the last id that was found');
select is(step(0) -> 'routed', '3', 'the next call goes on behind it');
select is(step(0) -> 'routed', '2', 'and so on to the end');
select is((select watermark from outbox.router), (select ids[8] from given), 'the watermark stands at the newest id');
select is(step(0) -> 'routed', '0', 'then there is nothing left');
select is(left_over(), 0, 'no row is left');

-- The batch grows back to the setting after it was made smaller.
do $$ begin perform outbox.set_setting('route.batch_size', '10'); end $$;
update outbox.router set batch = 2 where true;
do $$ begin perform time_passes('1 s'), events(40); end $$;
select is(array(select (step(0) ->> 'routed')::integer from generate_series(1, 6)), '{2,4,8,10,10,6}',
  'the batch doubles with each call up to the setting');

-- Many deliveries an event: the batch is cut between two events or within one.
insert into outbox.endpoint (org_id, url, created_at, updated_at)
select 'many', 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, 500) n;
insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
select 'many', '*', e.id, e.created_at from outbox.endpoint e where e.org_id = 'many';
do $$ begin perform outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.org_id = 'many'; end $$;
select time_passes('1 s');
create temporary table many as select events(7, p_org_id => 'many') as ids;
create temporary table batch as select r.* from outbox.read_unrouted() r;
-- As after a call that failed.
delete from outbox.waiting_part where true;
select results_eq('select cardinality(events), cardinality(pairs), cut_event, cut_endpoint from batch', 'values (4, 2000, null::uuid, null::uuid)',
  'a batch of 2,000 deliveries that ends with an event leaves none half done');
select is((select watermark from batch), (select ids[7] from many), 'its watermark is the last event that it has read');
select is(step(0) -> 'routed', '2000', 'four events of 500 endpoints fill a call');
select is((select watermark from outbox.router), (select ids[7] from many), 'and the watermark is remembered');
select is(step(0) -> 'routed', '1500', 'the next call makes the rest');
select is(left_over(), 0, 'no row is left of these');

-- A row at or below the watermark is not looked for: nothing but an open transaction may still put one there.
insert into outbox.unrouted (event_id, org_id, xid) values (outbox.uuid_v7('2026-01-01'), 'default', '3');
select ok(not outbox.has_unrouted(), 'a row below the watermark whose transaction had ended is not read again');
select is((select r from outbox.read_unrouted() r where r.events is not null), null, 'by read_unrouted() neither');
delete from outbox.unrouted where xid = '3';

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is left asleep');

select * from finish();
rollback;
