-- The replay of a group of dead letters: the preview counts what the group counts, and the job replays the same ones.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(18);

create temporary table e as select endpoint('{a.*}', p_org_id => 'org-1') as a, endpoint('{a.*}', p_org_id => 'org-1') as b, endpoint('{a.*}', p_org_id => 'org-2') as other;
do $$ begin perform events(6, 'a.b', p_org_id => 'org-1'), events(2, 'a.b', p_org_id => 'org-2'), fail(404), time_passes('1 h'); end $$;
-- Two errors that differ after 200 characters are one group, as are all that begin so.
create temporary table error as select repeat('ä🦊', 100) as long, '100 %_' as odd;
create temporary table letter as
  select x.id, x.endpoint_id, row_number() over (partition by x.endpoint_id order by x.id) as n from outbox.dead_letter x;
update outbox.dead_letter x set error = case
    when l.n <= 3 then (select long from error) || ' of ' || l.n
    when l.n = 4 then (select odd from error)
    when l.n = 5 then left((select long from error), 199)
    else 'other' end
  from letter l where l.id = x.id;
create temporary table groups as
  select (g ->> 'endpointId')::uuid as endpoint, g ->> 'error' as error, (g ->> 'count')::integer as n, g ->> 'firstAt' as first
  from jsonb_array_elements(outbox.group_dead_letters('org-1') -> 'data') g;
create function selection(g groups) returns jsonb language sql as $$
  select jsonb_build_object('endpointId', g.endpoint, 'error', g.error, 'failedFrom', g.first)
$$;
select is((select string_agg(n::text, ' ' order by n, endpoint) from groups), '1 1 1 1 1 1 3 3', 'there are groups');
select is((select bool_and(outbox.preview_replay_job('org-1', selection(g)) ->> 'total' = g.n::text) from groups g), true, 'the preview of each counts what the group counts');
select is((select bool_and(outbox.preview_replay_job('org-1', selection(g)) ->> 'rows' = '6') from groups g), true, 'among those that wait at its endpoint');
select is((select sum((outbox.preview_replay_job('org-1', selection(g) - 'endpointId') ->> 'total')::integer) from groups g where g.endpoint = (select a from e)), 12::bigint, 'without the endpoint, those of all of the organisation with this error');
select is(outbox.preview_replay_job('org-1', jsonb_build_object('endpointId', (select a from e), 'error', long || ' of 1')) ->> 'total',
  outbox.preview_replay_job('org-1', jsonb_build_object('endpointId', (select a from e), 'error', long)) ->> 'total', 'of a whole error of more than 200 characters, the first 200 count') from error;
select is(outbox.create_replay_job('org-3', jsonb_build_object('error', long || ' of 1')) ->> 'error', long, 'also in a job') from error;
select is(outbox.preview_replay_job('org-1', '{"error": "100 "}') ->> 'total', '0', 'the error is compared as a whole');
select is(outbox.preview_replay_job('org-1', '{"error": "1%"}') ->> 'total', '0', 'and is no pattern');
select is(refusal(format('select outbox.preview_replay_job(%L, %L)', 'org-2', selection(g))), format('OH002 endpoint %L does not exist', g.endpoint), 'another org''s group is none') from groups g limit 1;
select is(refusal(format('select outbox.create_replay_job(%L, %L)', 'org-2', selection(g))), format('OH002 endpoint %L does not exist', g.endpoint), 'nor can it be replayed') from groups g limit 1;
select is(outbox.preview_replay_job('org-2', jsonb_build_object('error', long)) ->> 'total', '2', 'by the error alone, an organisation selects its own') from error;

-- The job of a group replays the group and nothing else.
create temporary table job as select outbox.create_replay_job('org-1', selection(g) || '{"ratePerSecond": 1000}') as j, g.* from groups g where g.endpoint = (select a from e) and g.n = 3;
select is(j ->> 'error', error, 'the job tells the error') from job;
select is(outbox.get_replay_job('org-1', j ->> 'id') ->> 'error', error, 'also later') from job;
do $$ begin perform outbox.work_replay_jobs(outbox.clock()), outbox.work_replay_jobs(outbox.clock()); end $$;
select is(outbox.get_replay_job('org-1', j ->> 'id') @> '{"status": "done", "replayed": 3, "skipped": 0}', true, 'it replays as many as were counted') from job;
select is((select array_agg(l.n order by l.n) from letter l join outbox.dead_letter x on x.id = l.id where x.replayed_at is not null), '{1,2,3}', 'those of the group');
select is((select count(*) from outbox.dead_letter x where x.replayed_at is not null and x.endpoint_id <> (select a from e)), 0::bigint, 'and none of another endpoint with the same error');

-- No further row is read, whatever else there is and whatever the planner knows.
create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select sum(c.rows) from helper.counters() c where c.relation = 'dead_letter');
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c where c.relation = 'dead_letter') - v_before;
end
$$;
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why, replayed_at)
  select gen_random_uuid(), outbox.uuid_v7(outbox.clock()), case when n % 2 = 0 then e.a else e.other end, case when n % 2 = 0 then 'org-1' else 'org-2' end,
    'a.b', '{}', 'other', 6, outbox.clock(), 'c', 6, outbox.clock(), 'retries_exhausted', case when n % 2 = 0 then outbox.clock() end
  from e, generate_series(1, 5000) n;
create temporary table call as select format('select outbox.preview_replay_job(%L, %L)', 'org-1', selection(g)) as call from groups g where g.endpoint = (select a from e) and g.error = 'other';
select cmp_ok(touched(call), '<=', 20::bigint, 'few rows are touched, with old statistics') from call;
analyze outbox.dead_letter;
select cmp_ok(touched(call), '<=', 20::bigint, 'and with fresh ones') from call;

select * from finish();
rollback;
