-- Endpoints that are paused or disabled take nobody's turn, however many there are.
begin;
\ir ../../_helpers.sql
select plan(6);

do $$
begin
  perform events(3, p_endpoint_id => endpoint('{}')) from generate_series(1, 80) n;
  perform step(0);
  update outbox.endpoint set status = case when random() < 0.5 then 'paused' else 'disabled' end where true;
end
$$;
create temporary table ours as select endpoint('{}', p_quantum => 10) as id;
select time_passes('1 ms');
do $$ begin perform events(20, p_endpoint_id => id) from ours; end $$;
create temporary table answer as select step(10) as a;
select is((select claimed(a, id) from answer, ours), 10, 'a small call serves the one that is enabled, behind all of the others');
select is((select count(*)::integer from outbox.gate where next_at = outbox.clock() + interval '5 s'), 80, 'and has put the others aside for a while');
select is(claimed(step(10)), 10, 'so that the next one has nothing to do with them');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- Deleted ones leave the ring.
update outbox.endpoint set status = 'deleted' where id <> (select id from ours);
select time_passes('5 s');
do $$ begin perform step(10); end $$;
select is((select count(*)::integer from outbox.gate where next_at = 'infinity' and depth = 3), 80, 'deleted endpoints are looked at once more');

select * from finish();
rollback;
