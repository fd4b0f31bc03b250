-- An endpoint that is not enabled keeps its deliveries, and gets none.
begin;
\ir ../../_helpers.sql
select plan(18);

create temporary table ours as
select s.status, endpoint('{}') as id from (values ('enabled'), ('paused'), ('disabled'), ('deleted')) s (status);
do $$ begin perform events(2, p_endpoint_id => id) from ours; perform step(0); end $$;
update outbox.endpoint e set status = o.status from ours o where o.id = e.id;
create temporary table answer as select step() as a;
select is((select claimed(a, o.id) from answer), case o.status when 'enabled' then 2 else 0 end, 'deliveries of an endpoint that is ' || o.status)
from ours o;
select is((select count(*)::integer from outbox.delivery d where d.endpoint_id = o.id), 2, 'stay when it is ' || o.status) from ours o where o.status in ('paused', 'disabled');
select is((select status || ': ' || held_because from outbox.delivery_status s where s.endpoint_id = o.id limit 1),
  'held: endpoint ' || o.status, 'and are shown as held, with the reason') from ours o where o.status in ('paused', 'disabled');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- Events that come meanwhile are kept too.
do $$ begin perform events(1, p_endpoint_id => id) from ours where status = 'paused'; end $$;
select is(claimed(step()), 0, 'a paused endpoint gets nothing new either');
select is((select depth from outbox.gate g join ours o on o.id = g.endpoint_id where o.status = 'paused'), 3::bigint, 'but keeps it');
update outbox.endpoint e set status = 'enabled' from ours o where o.id = e.id and o.status in ('paused', 'disabled');
select time_passes('5 s');
update answer set a = step() where true;
select is((select claimed(a, o.id) from answer), case o.status when 'paused' then 3 else 2 end, 'an endpoint that was ' || o.status || ' is served again within 5 s')
from ours o where o.status in ('paused', 'disabled');

-- What was claimed before the pause may end after it.
update outbox.endpoint e set status = 'paused' from ours o where o.id = e.id and o.status = 'paused';
select is((select step(100, results(a, 'delivered')) -> 'applied' from answer), '5', 'results of what was under way are applied');
select is_empty('select * from miscounts()', 'the counters are right');

-- A gate that is to be left alone for a while.
do $$ begin perform events(1, p_endpoint_id => id) from ours where status = 'enabled'; perform step(0); end $$;
update outbox.gate g set not_before = outbox.clock() + interval '10 s', next_at = outbox.clock() from ours o where o.id = g.endpoint_id and o.status = 'enabled';
select is(claimed(step()), 0, 'a gate is left alone until its not_before');
select time_passes('10 s');
select is(claimed(step()), 1, 'and served then');

select * from finish();
rollback;
