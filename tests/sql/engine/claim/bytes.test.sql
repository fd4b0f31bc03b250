-- A batch holds at most 4 MiB of bodies.
begin;
\ir ../../_helpers.sql
select plan(8);

select endpoint(p_quantum => 100, p_max_in_flight => 100);
do $$ begin perform events(50, p_payload => to_jsonb(repeat('x', 199998))), step(0); end $$;
create temporary table answer as select step() as a;
select is((select claimed(a) from answer), 20, 'of bodies of 200,000 bytes a batch holds twenty');
select is((select sum(octet_length(e.body)) from outbox.event e join outbox.delivery d on d.event_id = e.id where d.leased_until is not null),
  4000000::bigint, 'which is less than 4 MiB, and with one more were not');
select is(claimed(step()), 20, 'the next call takes the next twenty');
select is(claimed(step()), 10, 'and the next the rest');
select is_empty('select * from miscounts()', 'the counters are right');

-- The sum is exact, and small bodies behind a large one wait for their turn.
do $$ begin perform outbox.set_setting('publish.max_body_bytes', '1048576'); end $$;
create temporary table ours as select endpoint('{}', p_quantum => 100) as id;
do $$ begin
  perform events(4, p_endpoint_id => id, p_payload => to_jsonb(repeat('x', 1048574))) from ours;
  perform time_passes('1 ms');
  perform events(2, p_endpoint_id => id, p_payload => '1') from ours;
end $$;
update answer set a = step() where true;
select is((select claimed(a) from answer), 4, 'four bodies of 1 MiB fill a batch to the byte');
select is(claimed(step()), 2, 'what lies behind them comes next');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
