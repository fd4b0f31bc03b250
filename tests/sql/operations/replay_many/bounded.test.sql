-- A job reads a bounded number of dead letters in each tick, whether they match or not, and continues behind them.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table made as select endpoint(p_org_id => 'org-1') as id, endpoint(p_org_id => 'big') as other;
select events(1, 'rare', p_org_id => 'org-1'), send('failed', '{"status": 404}'), time_passes('1 h');
-- 12,000 others fail before it: of its organisation, and as many of another one.
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, idempotency_key, event_created_at, why)
select gen_random_uuid(), outbox.uuid_v7(f.at), o.endpoint, o.org_id, 'often', '{}', 'refused', 0, f.at, 'c', 1, 'i', f.at, 'failed'
from made, lateral (values (id, 'org-1'), (other, 'big')) o (endpoint, org_id), generate_series(1, 12000) n, lateral (select timestamptz '2026-03-01 11:00:00+00' + n * interval '1 ms' as at) f;

create function job(p_id text) returns text language sql as $$
  select status || ' ' || replayed || ' ' || skipped from outbox.replay_job where id::text = p_id
$$;
create temporary table own as select outbox.replay_many('org-1', p_event_type => 'rare') ->> 'id' as id;
create temporary table of_all as select outbox.replay_many(p_event_type => 'none.such') ->> 'id' as id;
select is((select array_agg(cardinality(outbox.next_letters(j)) order by j.id) from outbox.replay_job j), '{1,1}', 'a job finds none among the first dead letters, and goes on behind them');
select is((select count(*) from unnest(outbox.next_replays(outbox.clock())) where event_id is null and endpoint_id is null), 2::bigint, 'by a step without an event');
select is(outbox.work_replay_jobs(outbox.clock()), 0, 'it replays none');
select is((select at_failed from outbox.replay_job j, own where j.id::text = own.id), '2026-03-01 11:00:05+00', 'it has read 5,000 of its own organisation');
select is((select at_failed from outbox.replay_job j, of_all where j.id::text = of_all.id), '2026-03-01 11:00:02.5+00', 'a job of all organisations has read 5,000 of all');
select is(job(id), 'running 0 0', 'and is not done') from own;
do $$ begin perform outbox.work_replay_jobs(outbox.clock()) from generate_series(1, 2); end $$;
select is(job(id), 'running 1 0', 'two steps later it has replayed the one that matches') from own;
do $$ begin perform outbox.work_replay_jobs(outbox.clock()) from generate_series(1, 3); end $$;
select is(job(id), 'done 1 0', 'then it is done') from own;
select is(job(id), 'done 0 0', 'as is the other, which found none') from of_all;
select is((select count(*) from outbox.dead_letter where replayed_at is not null), 1::bigint, 'no other was replayed');

select * from finish();
rollback;
