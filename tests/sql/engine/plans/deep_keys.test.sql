-- An ordered gate whose every key has a long queue: a call reads no more of it than fills the batch, though each of
-- its keys could give a whole quantum.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(13);

create function queue_up(p_endpoint_id uuid, p_keys integer, p_deep integer) returns void language sql as $$
  select outbox.publish_many((
    select jsonb_agg(jsonb_build_object('type', 'a.b', 'payload', '{}'::jsonb, 'partition_key', 'k' || k, 'endpoint_id', p_endpoint_id))
    from generate_series(1, p_keys) k, generate_series(1, p_deep)))
$$;
create function of_lanes(p_answer jsonb) returns integer[] language sql as $$
  select array_agg(n order by n) from (
    select count(*)::integer as n from jsonb_array_elements(p_answer -> 'deliveries') d group by d ->> 'lane') x
$$;

-- One gate, 60 keys of 60.
create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_max_in_flight => 1000, p_quantum => 60) as id;
do $$ begin perform queue_up(id, 60, 60) from ours; while exists (select from outbox.unrouted) loop perform step(0), time_passes('1 s'); end loop; end $$;
create temporary table answer as select measure('one', 150) as a;
select is(of_lanes(a), '{30,60,60}', 'a batch of 150 is two keys and a half of 60') from answer;
select cmp_ok(rows_touched('one'), '<=', 750::bigint, 'and touches at most five rows for each');
select time_passes('1 s');
update answer set a = measure('both', 150, results(a, 'delivered', '{"status": 200}')) where true;
select is(claimed(a), 150, 'the next one too') from answer;
select cmp_ok(rows_touched('both'), '<=', 1050::bigint, 'with the results of the first at most seven');

-- Ten more gates of 20 keys of 20: a batch of 100 is five keys of the first.
create temporary table others as select endpoint('{}', p_ordering => 'partition', p_quantum => 20) as id from generate_series(1, 10);
do $$ begin
  update outbox.endpoint e set status = 'paused' from ours o where e.id = o.id;
  perform queue_up(id, 20, 20) from others;
  while exists (select from outbox.unrouted) loop perform step(0), time_passes('1 s'); end loop;
end $$;
update answer set a = measure('ten', 100) where true;
select is(of_lanes(a), '{20,20,20,20,20}', 'five keys of 20') from answer;
select cmp_ok(rows_touched('ten'), '<=', 800::bigint, 'of five gates, and no lane beyond these five');

-- What is asked for beyond the first gate's comes from the next, and short keys give what they have.
select time_passes('1 s');
update answer set a = step(0, results(a, 'released')) where true;
create temporary table short as select endpoint('{}', p_ordering => 'partition', p_quantum => 20) as id from generate_series(1, 2);
do $$ begin
  update outbox.endpoint e set status = 'paused' from others o where e.id = o.id;
  perform queue_up(id, 15, 2) from short;
  perform step(0), time_passes('1 s');
end $$;
update answer set a = step(50) where true;
select is(claimed(a), 50, 'two gates of 15 keys of two fill a batch of 50') from answer;
select is((select array_agg(n order by n desc) from (select claimed(a, id) as n from answer, short) x), '{30,20}', 'the first gives all, the second the rest');
select is_empty('select * from miscounts()', 'and every counter is right');

-- What is out of order takes the slots first: then a gate's keys give nothing, and keep nobody from the batch.
create temporary table mixed as select endpoint(array['m.' || n], p_max_in_flight => 5, p_retry => plain_retry(0)) as id, n from generate_series(1, 10) n;
do $$ begin
  update outbox.endpoint e set status = 'paused' from short s where e.id = s.id;
  perform events(10, p_endpoint_id => id) from mixed;
  perform step(0), time_passes('1 s');
  update outbox.endpoint e set ordering = 'partition' from mixed m where e.id = m.id;
  perform queue_up(id, 4, 25) from mixed;
  while exists (select from outbox.unrouted) loop perform step(0), time_passes('1 s'); end loop;
end $$;
create temporary table simple as select endpoint('{}', p_max_in_flight => 200) as id;
do $$ begin perform events(200, p_endpoint_id => id), step(0), time_passes('1 s') from simple; end $$;
update answer set a = measure('mixed', 100) where true;
select is(claimed(a), 75, 'gates that have slots only for what is out of order give that') from answer;
select is((select array_agg(distinct claimed(a, id)) from answer, mixed), '{5}', 'five of each of the ten') ;
select is(claimed(a, id), 25, 'and the next gate its quantum') from answer, simple;
select is_empty('select * from miscounts()', 'every counter is right again');

select * from finish();
rollback;
