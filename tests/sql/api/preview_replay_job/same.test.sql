-- The preview of a replay job counts what the job replays.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(14);

create temporary table mine as select endpoint('{a.*}', p_org_id => 'org-1') as a, endpoint('{c.*}', p_org_id => 'org-1') as c, endpoint(p_org_id => 'org-2') as other;
do $$ begin perform events(3, 'a.b', p_org_id => 'org-1'), events(7, 'c.d', p_org_id => 'org-1'), events(2, 'a.b', p_org_id => 'org-2'), fail(404), time_passes('1 h'); end $$;
create temporary table p as select outbox.preview_replay_job('org-1', '{}') as p;
select is(p - 'sample', '{"total": 10, "capped": false, "oldestFailedAt": "2026-03-01T12:00:00.000Z", "failedTo": "2026-03-01T13:00:00.001Z", "rows": 10}', 'it counts the open dead letters of the organisation') from p;
select is(jsonb_array_length(p -> 'sample'), 5, 'and shows five of them') from p;
select is(outbox.preview_replay_job('org-1', '{"eventType": "a.b"}') ->> 'total', '3', 'of an event type');
select is(outbox.preview_replay_job('org-1', '{"exceptType": "a.b"}') ->> 'total', '7', 'or without one');
select is(outbox.preview_replay_job('org-1', jsonb_build_object('endpointId', c)) ->> 'total', '7', 'of an endpoint') from mine;
select is(outbox.preview_replay_job('org-1', '{"failedFrom": "2026-03-01T12:30:00Z"}') ->> 'total', '0', 'from a time on');
select is(outbox.preview_replay_job('org-1', '{"failedTo": "2026-03-01T12:00:00Z"}') ->> 'total', '10', 'up to a time, which is included');
select is(outbox.preview_replay_job('org-1', '{"failedTo": "2026-03-01T11:59:59.999Z"}') ->> 'total', '0', 'and not beyond');
select is(refusal(format('select outbox.preview_replay_job(%L, %L)', 'org-1', jsonb_build_object('endpointId', other))), format('OH002 endpoint %L does not exist', other), 'another org''s endpoint is none') from mine;
select is(refusal($$select outbox.preview_replay_job('org-1', '{"failedFrom": "2026-03-01T12:00:00Z", "failedTo": "2026-03-01T11:00:00Z"}')$$) like 'OH001 failedFrom is after failedTo%', true, 'a span ends after its start');

do $$ begin perform outbox.discard_org_dead_letter('org-1', id, 'x') from outbox.dead_letter where org_id = 'org-1' and original_topic = 'a.b' limit 1; end $$;
select is(outbox.preview_replay_job('org-1', '{"eventType": "a.b"}') ->> 'total', '2', 'what was discarded is not among them');
create temporary table job as select outbox.create_replay_job('org-1', jsonb_build_object('failedTo', p -> 'failedTo')) as j from p;
select is((select j ->> 'failedTo' from job) <= (select p ->> 'failedTo' from p), true, 'the job takes its bound');
do $$ begin perform time_passes('1 s'), events(1, 'c.d', p_org_id => 'org-1'), fail(404), time_passes('1 min'), outbox.work_replay_jobs(outbox.clock()); end $$;
select is(outbox.get_replay_job('org-1', j ->> 'id') ->> 'replayed', '9', 'and replays the same ones') from job;
select is(outbox.preview_replay_job('org-1', '{}') ->> 'total', '1', 'which are then not open any more');

select * from finish();
rollback;
