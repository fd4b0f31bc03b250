-- A call whose answer was lost is made again: it applies nothing and returns what is still leased of it.
begin;
\ir ../../_helpers.sql
select plan(24);

create temporary table ours as select endpoint() as id;
create temporary table given as select events(4) as ids;
create function call(p_seq bigint, p_results jsonb default '[]', p_limit integer default 2) returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-00000000000a', p_seq, p_results, p_limit)::jsonb
$$;

create temporary table first_one as select call(1) as a;
create temporary table again as select call(1) as a;
select is(again.a - 'repeat' - 'routed', first_one.a - 'repeat' - 'routed', 'the same call again returns the same deliveries') from first_one, again;
select is(a -> 'repeat', 'true', 'and says that it is one') from again;
select is(a -> 'routed', '0', 'and that it routed nothing') from again;
select is((select count(*)::integer from outbox.delivery where leased_until is not null), 2, 'it claims nothing more');
select is(again.a -> 'deliveries' -> 0 -> 'attempt', '1', 'and takes no attempt') from again;

create temporary table with_results as select call(2, results(a, 'delivered'), 1) as a from first_one;
select is(a -> 'applied', '2', 'a call with results') from with_results;
update again set a = (select call(2, results(f.a, 'delivered'), 1) from first_one f) where true;
select is((a -> 'applied')::text || (a -> 'stale')::text || (a -> 'repeat')::text, '00true', 'made again applies none') from again;
select is(again.a -> 'deliveries', w.a -> 'deliveries', 'and returns its deliveries') from again, with_results w;
select is((select count(*)::integer from outbox.attempt), 2, 'there is one attempt for each');
select is_empty('select * from miscounts()', 'the counters are right');

-- Part of the first call's deliveries has ended meanwhile, the second call's too.
select is(call(1) -> 'deliveries', '[]'::jsonb, 'what has ended does not come again');
create temporary table third as select call(3, '[]', 10) as a;
select is(claimed(a), 1, 'a third call gets the last') from third;
do $$ begin perform call(4, results(a, 'failed', '{"status": 500}'), 0) from third; end $$;
select is(call(3, '[]', 10) -> 'deliveries', '[]'::jsonb, 'what waits for its retry does not come again');
select time_passes('1 s');
create temporary table fifth as select call(5) as a;
select is(claimed(a), 1, 'it is claimed by a later call') from fifth;
select is(call(3, '[]', 10) -> 'deliveries', '[]'::jsonb, 'and belongs to that one alone');

-- The time left shrinks, and when the lease has ended nothing is left.
select time_passes('5 s');
select is(call(5) -> 'deliveries' -> 0 -> 'lease_ms', '15000', 'a repeat says how long the lease still holds');
select time_passes('15 s');
select is(call(5) -> 'deliveries', '[]'::jsonb, 'when the lease has ended nothing is left of it');

-- Numbers belong to a run.
select is(outbox.dispatch('00000000-0000-7000-8000-00000000000b', 1, '[]', 1)::jsonb -> 'repeat', 'false', 'another run has its own numbers');
select is((select count(*)::integer from outbox.run_batch where run_id = '00000000-0000-7000-8000-00000000000a'), 5, 'the last batches of a run are kept');
do $$ begin for n in 6 .. 20 loop perform events(1), call(n); end loop; end $$;
select is((select min(seq) from outbox.run_batch where run_id = '00000000-0000-7000-8000-00000000000a'), 12::bigint, 'older ones go');
select is((select count(*)::integer from outbox.run_batch where run_id = '00000000-0000-7000-8000-00000000000b'), 1, 'those of others stay');

-- A call that stops does nothing, so it may be made again.
do $$ begin perform outbox.set_setting('worker.enabled', 'false'); end $$;
select is(call(21) ->> 'stop', 'disabled', 'a call may be told to stop');
select is(call(21) ->> 'stop', 'disabled', 'and is told the same when it is made again');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
