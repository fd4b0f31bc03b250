-- check_installation() returns the facts that `outhook check` judges, as service_role, and no secret.
begin;
\ir ../../_helpers.sql
select plan(18);

create function facts(p_event uuid default null) returns jsonb language sql as $$ select outbox.check_installation(p_event) $$;

select is(facts() -> 'modules' ->> 0, 'core', 'the core is the first module');
select is(facts() -> 'version', outbox.version() -> 'version', 'the version is that of the schema');
select is(facts() -> 'contracts', outbox.contracts(), 'with its contracts');
select is(jsonb_array_length(facts() -> 'jobs'), 5, 'five jobs');
select is((select array_agg(j ->> 'name' order by j ->> 'name') from jsonb_array_elements(facts() -> 'jobs') j),
  array['outhook-cleanup', 'outhook-drop-partitions', 'outhook-partitions', 'outhook-tick', 'outhook-vacuum'], 'with their names');
select is((select array_agg(j.jobname::text order by j.jobname) from cron.job j), outbox.job_names(), 'and these are all that the schema schedules');
select cron.schedule('outhook-report', '0 0 * * *', 'select 1');
select is(jsonb_array_length(facts() -> 'jobs'), 5, 'a job of the application with a similar name is none of them');
select is(facts() -> 'queue' -> 'problems', null, 'the problems are beside the queue');
select is(jsonb_typeof(facts() -> 'problems'), 'array', 'as a list');

delete from vault.secrets where name in ('outhook_functions_url', 'outhook_worker_secret');
select is(facts() -> 'configured', '{"functions_url": null, "stored": 0, "readable": 0}', 'nothing is configured');
do $$ begin perform outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40)); end $$;
select is(facts() -> 'configured', '{"functions_url": "https://project.supabase.co/functions/v1", "stored": 2, "readable": 2}', 'URL and secret are');
select unalike(facts()::text, '%' || repeat('s', 40) || '%', 'the secret is not shown');

-- Responses of the last five minutes, the newest first.
delete from net._http_response where true;
insert into net._http_response (id, status_code, content, timed_out, error_msg, created) values
  (-1, 202, '{}', false, null, now() - interval '6 minutes'),
  (-2, 401, '{"type": "about:blank", "code": "invalid_kick"}', false, null, now() - interval '2 minutes'),
  (-3, 401, '{"code":"invalid_kick"}', false, null, now() - interval '1 minute'),
  (-4, 202, '{}', false, null, now()),
  (-5, null, null, true, 'Timeout of 2000 ms reached', now() - interval '4 minutes'),
  (-6, 404, '<h1>Not found</h1>', false, null, now() - interval '3 minutes');
update net._http_response set headers = '{"x-sb-edge-region": "eu-central-1"}' where id = -2;
select is((select jsonb_agg(r - 'last_at') from jsonb_array_elements(facts() -> 'responses') r),
  '[{"status": 202, "code": null, "error": null, "responses": 1, "region": null},
    {"status": 401, "code": "invalid_kick", "error": null, "responses": 2, "region": "eu-central-1"},
    {"status": 404, "code": null, "error": null, "responses": 1, "region": null},
    {"status": null, "code": null, "error": "timed out", "responses": 1, "region": null}]', 'equal responses are counted');

-- The attempts of a test event, and of no other event.
create temporary table e as select endpoint() as id;
create temporary table sent as select (outbox.send_test_event(id) ->> 'event_id')::uuid as id from e;
select is((select facts(id) -> 'test' -> 'attempts' from sent), '[]', 'a test event has no attempt at first');
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
select sent.id, e.id, 1, '2026-03-01 12:00:01+00', 'attempt', 'delivered', 204, 7 from sent, e;
select is((select facts(id) -> 'test' -> 'attempts' from sent),
  '[{"at": "2026-03-01T12:00:01.000Z", "outcome": "delivered", "status": 204, "error": null, "duration_ms": 7}]', 'then its attempt');
select is(facts((events(1))[1]) -> 'test', 'null', 'another event has no test');
select is(facts() -> 'test', 'null', 'nor has no event');

set local role service_role;
select lives_ok('select outbox.check_installation()', 'service_role may call it');
select * from finish();
rollback;
