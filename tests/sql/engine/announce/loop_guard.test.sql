-- Operational events never cause further ones: whatever becomes of an endpoint of outhook, nothing is said.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(11);

create temporary table watcher as select endpoint(p_org_id => 'outhook', p_breaker => true, p_retry => plain_retry(0)) as id;
create temporary table made as select endpoint() as id;
select events(5);
select fail(404);
create temporary table said as select count(*) as n from outbox.event where org_id = 'outhook';
select is(n, 5::bigint, 'five dead letters are announced') from said;
create function quiet() returns boolean language sql stable as $$ select (select count(*) from outbox.event where org_id = 'outhook') = n from said $$;
-- All five fail with their last try, and open the breaker.
select is(fail(500), 5, 'the endpoint that watches fails');
select is((select count(*) from outbox.dead_letter x join watcher w on w.id = x.endpoint_id), 5::bigint, 'its dead letters are kept');
select is(breaker_of(id), 'open', 'its breaker is open') from watcher;
select ok(quiet(), 'and nothing is said of either');
select time_passes('30 s');
select outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x join watcher w on w.id = x.endpoint_id;
select send();
select is(breaker_of(id), 'closed', 'a probe closes it') from watcher;
select ok(quiet(), 'nothing is said');
select time_passes('10 s');
select is(fail(410), 4, 'it is gone');
select is((select status from outbox.endpoint join watcher using (id)), 'disabled', 'and disabled');
select ok(quiet(), 'nothing is said');
select outbox.disable_endpoint(id) from watcher;
select time_passes('31 d');
select outbox.tick(), outbox.cleanup();
select is((select count(*) from outbox.event where org_id = 'outhook') - n, 0::bigint, 'nor when its deliveries expire, or somebody disables it by hand') from said;

select * from finish();
rollback;
