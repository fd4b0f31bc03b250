-- What cleanup() removes and what it leaves, each to the second; twice in a row is as good as once.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

-- Long before any partition that the database has, so that none of them is touched.
select time_is('2020-03-01 12:00:00+00');
create temporary table made as select endpoint() as id;
-- Six dead letters: left alone, discarded twice, replayed and delivered, replayed and waiting, discarded and under way again.
create temporary table event as select events(6) as ids;
select send('failed', '{"status": 404}');
create temporary table letter as
select ids[n] as event, what from event, unnest(array['left alone', 'discarded', 'discarded later', 'delivered', 'waiting', 'open again']) with ordinality x (what, n);
create function cleaned() returns text language sql as $$
  select string_agg(l.what, ', ' order by l.event) from letter l where not exists (select from outbox.dead_letter x where x.event_id = l.event)
$$;
select outbox.discard_dead_letter(event, id, 'why') from letter, made where what in ('discarded', 'open again');
select outbox.replay(event, id) from letter, made where what = 'delivered';
select send();
select outbox.replay(event, id), outbox.schedule_retry(event, id, '7 days') from letter, made where what in ('waiting', 'open again');
select time_passes('1 s');
select outbox.discard_dead_letter(event, id, 'why') from letter, made where what = 'discarded later';

create temporary table keyed as select outbox.publish('a', '{}', p_idempotency_key => 'early') as early;
select time_passes('1 s');
select outbox.publish('a', '{}', p_idempotency_key => 'late');
create function keys() returns text language sql as $$ select string_agg(k.key, ', ' order by k.key) from outbox.idempotency_key k $$;
select ok(outbox.cleanup() @> '{"idempotency_keys": 0, "dead_letters": 0, "job_runs": 0}', 'nothing is old enough');
select time_passes('23:59:59');
select outbox.cleanup();
select is(keys(), 'early, late', 'a key lives 24 hours');
select time_passes('1 ms');
select is(outbox.cleanup() -> 'idempotency_keys', '1', 'and no longer');
select is(keys(), 'late', 'each by its own clock');
select is(outbox.cleanup() -> 'idempotency_keys', '0', 'the second time there is nothing');
-- Whether it was cleaned or not decides nothing.
select time_passes('1 s');
select isnt(outbox.publish('a', '{}', p_idempotency_key => 'late'), (select min(e.id::text)::uuid from outbox.event e where e.idempotency_key = 'late'), 'an old key that is still there is as good as none');

-- Dead letters: 90 days after they were dealt with.
update outbox.endpoint set status = 'paused' where true;
select time_passes('90 d'), time_passes('-24:00:02.001');
select outbox.cleanup();
select is(cleaned(), null, 'ninety days after to the second all are there');
select time_passes('1 ms');
select is(outbox.cleanup() -> 'dead_letters', '2', 'a millisecond later');
select is(cleaned(), 'discarded, delivered', 'what was discarded or delivered then is gone, what is open again is not');
select time_passes('1 s');
select outbox.cleanup();
select is(cleaned(), 'discarded, discarded later, delivered', 'a second later what was discarded a second later');
select is((select count(*) from outbox.delivery), 2::bigint, 'two are still open');
-- These two are called off: one was discarded before, the other never was.
select outbox.cancel_delivery(event, id) from letter, made where what in ('waiting', 'open again');
select is(outbox.cleanup() -> 'dead_letters', '1', 'what was discarded goes when it is no longer open');
select is(cleaned(), 'discarded, discarded later, delivered, open again', 'and no other');
select time_passes('3 years');
select outbox.cleanup();
select is(cleaned(), 'discarded, discarded later, delivered, open again', 'what nobody has dealt with never goes, nor what was replayed without success');
select is((select count(*) from outbox.dead_letter where replayed_at is null and discarded_at is null), 1::bigint, 'the one left alone is there after three years');
select time_passes('-3 years');

-- How long is a setting.
create temporary table young as select (events(1, p_endpoint_id => id))[1] as event from made;
update outbox.endpoint set status = 'enabled', updated_at = outbox.clock() where true;
select step(0), outbox.tick();
select send('failed', '{"status": 404}');
select outbox.discard_dead_letter(event, id, 'why') from young, made;
select outbox.set_setting('dead_letter.retention_days', '2');
select time_passes('2 d');
select is(outbox.cleanup() -> 'dead_letters', '0', 'two days after, by the setting');
select time_passes('1 ms');
select is(outbox.cleanup() -> 'dead_letters', '1', 'and no longer');
select is_empty('select * from miscounts()', 'the counters are right');

-- pg_cron's history: the rows of our jobs alone, by the real clock. A job of the application has a similar name.
select cron.schedule('outhook-report', '0 0 * * *', 'select 1') as report \gset
insert into cron.job_run_details (jobid, runid, job_pid, database, username, command, status, return_message, start_time, end_time)
select j.jobid, 900000000 + row_number() over (), 1, 'postgres', 'postgres', what, 'succeeded', '', now() - age, now() - age
from (select jobid from cron.job where jobname = 'outhook-tick' union all select :report) j, (values ('young', interval '23 hours 59 minutes'), ('old', interval '1 day 1 minute')) x (what, age);
insert into cron.job_run_details (jobid, runid, job_pid, database, username, command, status, return_message, start_time, end_time)
select jobid, 900000009, 1, 'postgres', 'postgres', 'running', 'running', '', now() - interval '30 days', null from cron.job where jobname = 'outhook-tick'
union all select jobid, 900000010, 1, 'postgres', 'postgres', 'failed', 'failed', '', now() - interval '7 days', now() - interval '6 days 23 hours' from cron.job where jobname = 'outhook-tick'
union all select jobid, 900000011, 1, 'postgres', 'postgres', 'failed long ago', 'failed', '', now() - interval '8 days', now() - interval '7 days 1 minute' from cron.job where jobname = 'outhook-tick';
select is(outbox.cleanup() -> 'job_runs', '2', 'two rows of pg_cron''s history go');
select results_eq(format('select command, jobid = %s from cron.job_run_details where runid > 899999999 order by 1, 2', :report),
  $$values ('failed', false), ('old', true), ('running', false), ('young', false), ('young', true)$$, 'ours: a success after a day, a failure after seven; another''s job and one that runs stay');
select is(outbox.cleanup() -> 'job_runs', '0', 'the second time there is nothing');

-- As pg_cron runs it.
select is((select schedule from cron.job where jobname = 'outhook-cleanup'), '*/5 * * * *', 'it starts at midnight, and again while there is more');
select matches((select command from cron.job where jobname = 'outhook-cleanup'), $$while outbox.cleanup_next\(\) loop\s+commit;$$, 'until nothing is left');
select is((select schedule || ' ' || (command ~ 'drop_partitions\(1\)') from cron.job where jobname = 'outhook-drop-partitions'), '*/5 0 * * * true', 'and old days go at the same time');
select is(outbox.drop_partitions(), '{"more": false, "dropped": 0}', 'nothing of the week ahead is dropped');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select is(outbox.add_partitions(), '{"made": 0, "late": []}', 'nor made twice');

select * from finish();
rollback;
