-- Organisations share what the replay jobs of a tick may do, whatever the number and the rates of their jobs. Work is
-- counted in dead letters, never in time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(14);

create temporary table made as select endpoint(p_org_id => 'noisy') as noisy, endpoint(p_org_id => 'quiet') as quiet;
create function letters(p_org_id text, p_endpoint_id uuid, p_count integer, p_type text default 'a') returns void language sql as $$
  insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, idempotency_key, event_created_at, why)
  select gen_random_uuid(), outbox.uuid_v7(f.at), p_endpoint_id, p_org_id, p_type, '{}', 'refused', 0, f.at, 'c', 1, 'i', f.at, 'failed'
  from generate_series(1, p_count) n, lateral (select timestamptz '2026-03-01 11:00:00+00' + n * interval '1 ms' as at) f
$$;
select letters('noisy', noisy, 6000), letters('quiet', quiet, 600) from made;
create function next_of(p_org_id text) returns bigint language sql as $$
  select count(*) from unnest(outbox.next_replays(outbox.clock())) s join outbox.replay_job j on j.id = s.job_id
  where j.org_id is not distinct from p_org_id
$$;

-- The jobs of one organisation are older, more and faster.
do $$ begin perform outbox.replay_many('noisy', p_rate_per_second => 1000) from generate_series(1, 10); end $$;
select is(next_of('noisy'), 1000::bigint, 'alone it has the whole tick');
create temporary table quiet as select outbox.replay_many('quiet', p_rate_per_second => 400) ->> 'id' as id;
select is(next_of('noisy'), 600::bigint, 'beside another one it has what that one leaves');
select is(next_of('quiet'), 400::bigint, 'and the other one its rate');
update outbox.replay_job set waits_for = 'the gate of an endpoint' where org_id = 'noisy';
select is(next_of('noisy'), 10::bigint, 'a job that waits for a gate has one');
select is(next_of('quiet'), 400::bigint, 'and takes nothing from the other one');
update outbox.replay_job set waits_for = null where org_id = 'noisy';
select outbox.replay_many(p_event_type => 'a', p_rate_per_second => 1000);
select is(next_of('noisy'), 333::bigint, 'a job for all organisations counts as one more');
select is(next_of('quiet'), 333::bigint, 'all have the same share');
select is(next_of(null), 334::bigint, 'that job too');
select is((select min(n) || ' ' || max(n) from (select count(*) n from unnest(outbox.next_replays(outbox.clock())) s
  join outbox.replay_job j on j.id = s.job_id where j.org_id = 'noisy' group by s.job_id) s), '33 34', 'the jobs of one share alike');
select is((select count(*) from outbox.replay_job j where (select array_agg(s.letter_id order by s.failed_at, s.letter_id) from unnest(outbox.next_replays(outbox.clock())) s where s.job_id = j.id)
  <> (select array_agg(x.id order by x.failed_at, x.id) from (select x.* from outbox.dead_letter x where x.org_id = coalesce(j.org_id, x.org_id) order by x.failed_at, x.id
    limit (select count(*) from unnest(outbox.next_replays(outbox.clock())) s where s.job_id = j.id)) x)), 0::bigint, 'each job has its first ones without a gap');

-- Reading costs too: jobs that match nothing share the rows.
update outbox.replay_job set event_type = 'none' where org_id = 'noisy';
delete from outbox.replay_job where org_id is null;
do $$ begin perform outbox.work_replay_jobs(outbox.clock()); end $$;
select is((select distinct at_failed from outbox.replay_job where org_id = 'noisy'), '2026-03-01 11:00:01+00', 'each of its ten jobs has read a tenth of 10,000');
select is((select replayed + skipped from outbox.replay_job j, quiet where j.id::text = quiet.id), 400::bigint, 'and the other one has gone on');

-- More organisations than dead letters in a tick: each job goes on.
insert into outbox.replay_job (org_id, failed_to, rate_per_second, created_at) select 'org-' || n, outbox.clock(), 1, outbox.clock() from generate_series(1, 1100) n;
select letters('org-' || n, quiet, 2) from made, generate_series(1, 1100) n;
select is((select min(next_of('org-' || n)) from generate_series(1, 1100, 100) n), 1::bigint, 'each has one');
select is(next_of('noisy'), 10::bigint, 'and each job of one with ten a row');

select * from finish();
rollback;
