-- Replay jobs of one org: made once for each key, changed while they run, nobody else's.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

create temporary table mine as select endpoint(p_org_id => 'org-1') as id, endpoint(p_org_id => 'org-2') as other;
do $$ begin perform events(3, 'a.b', p_org_id => 'org-1'), events(2, 'a.b', p_org_id => 'org-2'), fail(404), time_passes('1 h'); end $$;
create temporary table job as select outbox.create_replay_job('org-1', '{"eventType": "a.b", "ratePerSecond": 2}', 'k') as j;
select is(j - 'id', '{"status": "running", "endpointId": null, "eventType": "a.b", "exceptType": null, "error": null, "failedFrom": null, "failedTo": "2026-03-01T13:00:00.000Z", "ratePerSecond": 2,
  "replayed": 0, "skipped": 0, "source": "dead_letters", "reachedAt": null, "createdAt": "2026-03-01T13:00:00.000Z", "finishedAt": null}', 'a job') from job;
select is(outbox.create_replay_job('org-1', '{"eventType": "a.b", "ratePerSecond": 2}', 'k'), j, 'is made once for a key') from job;
select is((select count(*) from outbox.replay_job), 1::bigint, 'and no more');
select is(refusal($$select outbox.create_replay_job('org-1', '{}', 'k')$$), 'OH003 Idempotency-Key was used within 24 hours for another request', 'another body is refused');
select is(refusal(format('select outbox.create_replay_job(%L, %L)', 'org-1', jsonb_build_object('endpointId', other))), format('OH002 endpoint %L does not exist', other), 'another org''s endpoint is none') from mine;
select is(refusal(format('select outbox.get_replay_job(%L, %L)', 'org-2', j ->> 'id')), format('OH002 replay job %L does not exist', j ->> 'id'), 'nor a job') from job;
select is(refusal(format('select outbox.change_replay_job(%L, %L, %L)', 'org-2', j ->> 'id', 'cancelled')), format('OH002 replay job %L does not exist', j ->> 'id'), 'nor to cancel') from job;
select is(outbox.list_replay_jobs('org-2'), '{"data": [], "nextCursor": null}', 'nor in a list');
select is(refusal(format('select outbox.get_replay_job(%L, %L)', 'org-1', v)), format('OH002 replay job %L does not exist', v), 'an id is digits: ' || v) from (values ('99999999999999999999'), ('x')) c (v);
do $$ begin perform outbox.work_replay_jobs(outbox.clock()); end $$;
select is(outbox.get_replay_job('org-1', j ->> 'id') @> '{"replayed": 2, "reachedAt": "2026-03-01T12:00:00.000Z"}', true, 'it tells how far it came') from job;
select is(outbox.change_replay_job('org-1', j ->> 'id', 'paused') -> 'status', '"paused"', 'it is paused') from job;
select is(outbox.change_replay_job('org-1', j ->> 'id', 'cancelled') -> 'status', '"cancelled"', 'or cancelled') from job;
select is(refusal(format('select outbox.change_replay_job(%L, %L, %L)', 'org-1', j ->> 'id', 'running')), format('OH004 replay job %s is cancelled', j ->> 'id'), 'and then stays so') from job;
do $$ begin perform outbox.create_replay_job('org-1', '{}') from generate_series(1, 2); end $$;
select is((outbox.list_replay_jobs('org-1', outbox.list_replay_jobs('org-1', null, 2) ->> 'nextCursor', 2) -> 'data' -> 0 -> 'id'), j -> 'id', 'a list goes on where its page ended') from job;

-- A caller that may not send messages: its job leaves out their type.
do $$ begin perform outbox.change_replay_job('org-1', id::text, 'cancelled') from outbox.replay_job where status in ('running', 'paused'); end $$;
do $$ begin perform events(1, 'c.d', p_org_id => 'org-1'), fail(404), time_passes('1 h'), outbox.create_replay_job('org-1', '{"exceptType": "a.b"}'), outbox.work_replay_jobs(outbox.clock()); end $$;
select is((select string_agg(e.type, ' ') from outbox.delivery d join outbox.event e on e.id = d.event_id join outbox.dead_letter x on x.event_id = d.event_id where x.replayed_at = outbox.clock()), 'c.d', 'a job may leave out a type');
select is((select count(*) from outbox.replay_job where except_type = 'a.b'), 1::bigint, 'of which it alone knows');

select * from finish();
rollback;
