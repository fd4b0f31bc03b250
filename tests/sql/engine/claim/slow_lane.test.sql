-- Of an ordered lane a run is given what it sends in half a second, so that the lanes of a slow endpoint do
-- not fill its hand.
begin;
\ir ../../_helpers.sql
select plan(9);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_quantum => 20) as id;
create temporary table keys as select k, events(60, p_key => k, p_endpoint_id => id) as ids from ours, unnest('{a,b}'::text[]) k;

create function took(p_ms integer) returns void language plpgsql as $$
begin
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, duration_ms)
  select gen_random_uuid(), o.id, 1, outbox.clock(), 'attempt', 'delivered', p_ms from ours o;
end $$;
create function of_each_lane(p_answer jsonb) returns integer[] language sql as $$
  select array_agg(n order by lane) from (
    select d ->> 'lane' as lane, count(*)::integer as n from jsonb_array_elements(p_answer -> 'deliveries') d group by 1) x
$$;
create function claimed_anew() returns integer[] language plpgsql as $$
declare
  v_answer jsonb := step(100);
begin
  perform step(0, results(v_answer, 'released'));
  return of_each_lane(v_answer);
end $$;

select is(claimed_anew(), '{20,20}', 'a quantum, while nothing is known of the endpoint');
select took(10);
select is(claimed_anew(), '{20,20}', 'and where it sends that in half a second');
select time_passes('1 s');
select took(100);
select is(claimed_anew(), '{5,5}', 'five when an answer takes 100 ms');
select time_passes('1 s');
do $$ begin perform took(10) from generate_series(1, 3); end $$;
select is(claimed_anew(), '{5,5}', 'the slowest of the last five counts');
select time_passes('1 s');
do $$ begin perform took(10) from generate_series(1, 2); end $$;
select is(claimed_anew(), '{20,20}', 'and none before them');
select time_passes('1 s');
select took(14000);
select is(claimed_anew(), '{1,1}', 'one when an answer takes longer than half a second');
select time_passes('1 hour 1 s');
select is(claimed_anew(), '{20,20}', 'what is an hour old says nothing');
select is_empty('select * from miscounts()', 'the counters are right');

create temporary table loose as select endpoint('{}', p_quantum => 20) as id;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, duration_ms)
select gen_random_uuid(), l.id, 1, outbox.clock(), 'attempt', 'delivered', 14000 from loose l;
do $$ begin perform events(30, p_endpoint_id => id) from loose; end $$;
select is((select count(*)::integer from jsonb_array_elements(step(200) -> 'deliveries') d, loose l where d ->> 'endpoint' = l.id::text),
  30, 'without an order all go out beside each other, however slow');

select * from finish();
rollback;
