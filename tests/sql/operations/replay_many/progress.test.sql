-- The job with the least progress comes first in a step, so that none is always the last one at the deadline.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(3);

create temporary table made as select endpoint() as id;
select events(4);
select send('failed', '{"status": 404}', 4);
create temporary table job as select outbox.replay_many(p_rate_per_second => 2) ->> 'id' as a;
select outbox.tick();
create temporary table later as select outbox.replay_many(p_rate_per_second => 2) ->> 'id' as b;
select outbox.tick();
select is((select replayed || '|' || skipped from outbox.replay_job, job where id::text = a), '2|2', 'the older job leaves the letters that both have');
select is((select replayed || '|' || skipped from outbox.replay_job, later where id::text = b), '2|0', 'to the one that has replayed none');

-- The last letter of a job is one that it skips.
select events(2);
select send('failed', '{"status": 404}', 2);
create temporary table last as select x.event_id from outbox.dead_letter x order by x.failed_at desc, x.id desc limit 1;
select outbox.replay(event_id, made.id) from last, made;
update outbox.dead_letter x set replayed_at = null from last where x.event_id = last.event_id;
select outbox.replay_many();
select outbox.tick(), outbox.tick();
select is((select status || ', skipped ' || skipped from outbox.replay_job order by id desc limit 1), 'done, skipped 1', 'a job skips its last letter once');

select * from finish();
rollback;
