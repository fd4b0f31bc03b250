-- A job ends with what had failed when it began: without that, letters that die again would be replayed for ever.
begin;
\ir ../../_helpers.sql
select plan(2);
select outbox.replay_many(p_failed_to => f) from unnest(array[null, outbox.clock() - interval '1 s', outbox.clock() + interval '1 d', 'infinity']::timestamptz[]) f;
select is((select array_agg(outbox.clock() - failed_to order by id) from outbox.replay_job), array[interval '0', '1 s', '0', '0'], 'a job reaches to now at most');
select is(refusal('select outbox.replay_many(p_failed_from => outbox.clock() + interval ''1 s'')'), 'OH001 failed_from is after failed_to', 'a span that holds nothing is refused');
select * from finish();
rollback;
