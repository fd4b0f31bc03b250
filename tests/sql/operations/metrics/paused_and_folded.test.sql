-- Work that waits on purpose is not late, and counters continue from their earlier value.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(5);

create temporary table made as select endpoint() as id;
select events(3);
select step(0), time_passes('1 h');
select is((select due_at from outbox.gate_metrics(outbox.clock())), '2026-03-01 12:00:00+00'::timestamptz, 'what nobody has sent for an hour is late');
select outbox.pause_endpoint(id) from made;
select is((select due_at from outbox.gate_metrics(outbox.clock())), null, 'but not when its endpoint is paused');
select is((select open from outbox.gate_metrics(outbox.clock())), 3::bigint, 'though it is open');

create function counted() returns text language sql as $$
  select n || ' ' || total from outbox.counter where metric = 'test' and labels = '{a}'
$$;
do $$ begin perform outbox.count_up('test', '{a}', 2, 20), outbox.fold_counters(); end $$;
select is(counted(), '2 20', 'what was counted is added up');
do $$ begin perform outbox.count_up('test', '{a}', 3, 30), outbox.count_up('test', '{a}', 1, 5), outbox.fold_counters(); end $$;
select is(counted(), '6 55', 'and added to what was there');

select * from finish();
rollback;
