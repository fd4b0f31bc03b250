-- Dead letters in groups by endpoint and error: those that wait for a decision, the largest group first.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(19);

create function pg_temp.letters(p_org_id text, p_endpoint uuid, p_error text, p_count integer, p_ago interval default '0', p_replayed timestamptz default null) returns void language sql as $$
  insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why, replayed_at)
  select gen_random_uuid(), outbox.uuid_v7(outbox.clock()), p_endpoint, p_org_id, 'a.b', '{}', p_error, 6, outbox.clock() - p_ago, 'c', 6, outbox.clock(), 'retries_exhausted', p_replayed
  from generate_series(1, p_count)
$$;
create temporary table e as
  select endpoint(p_org_id => 'one') as a, endpoint(p_org_id => 'one') as b, endpoint(p_org_id => 'two') as two, endpoint(p_org_id => 'wide') as wide,
    endpoint(p_org_id => 'many') as many, endpoint(p_org_id => 'many') as few, endpoint(p_org_id => 'past') as past;

select is(outbox.group_dead_letters('none'), '{"data": [], "isWhole": true, "rows": 0}', 'without endpoints there is no group');
select is(outbox.group_dead_letters('one') - 'rows', '{"data": [], "isWhole": true}', 'nor without dead letters');
select pg_temp.letters('one', a, 'HTTP 404', 2, '1 h'), pg_temp.letters('one', a, 'HTTP 404', 1), pg_temp.letters('one', a, 'timeout', 1),
  pg_temp.letters('one', b, 'HTTP 404', 2, '2 h'), pg_temp.letters('one', b, 'gone', 1, '0', outbox.clock()), pg_temp.letters('two', two, 'other', 1) from e;
update outbox.dead_letter set discarded_at = outbox.clock() where error = 'timeout' and org_id = 'one';
select is(outbox.group_dead_letters('one') -> 'data', jsonb_build_array(
  '{"error": "HTTP 404", "count": 3, "firstAt": "2026-03-01T11:00:00.000Z", "lastAt": "2026-03-01T12:00:00.000Z"}'::jsonb || jsonb_build_object('endpointId', a),
  '{"error": "HTTP 404", "count": 2, "firstAt": "2026-03-01T10:00:00.000Z", "lastAt": "2026-03-01T10:00:00.000Z"}'::jsonb || jsonb_build_object('endpointId', b)),
  'the same error of two endpoints is two groups; what was replayed or discarded is in none') from e;
select is(outbox.group_dead_letters('one', p_from => outbox.clock() - interval '90 min') #>> '{data,0,count}', '3', 'since a time');
select is(jsonb_array_length(outbox.group_dead_letters('one', p_from => outbox.clock() - interval '90 min') -> 'data'), 1, 'what failed before is left out');
select is(outbox.group_dead_letters('one', b) #>> '{data,0,count}', '2', 'of one endpoint') from e;
select is(outbox.group_dead_letters('two', b), '{"data": [], "isWhole": true, "rows": 0}', 'which belongs to the organisation: of another one nothing is read') from e;

-- What was replayed is not read, however much of it is newer.
select pg_temp.letters('past', past, 'down', 300, '1 day'), pg_temp.letters('past', past, 'down', 20001, '0', outbox.clock()) from e;
select is(outbox.group_dead_letters('past') #>> '{data,0,count}' || ' ' || (outbox.group_dead_letters('past') ->> 'isWhole'), '300 true', 'those that wait are found below 20,001 newer ones that were replayed');

-- At the bounds.
select pg_temp.letters('wide', wide, 'error ' || n, 1) from e, generate_series(1, 100) n;
select is(outbox.group_dead_letters('wide') -> 'isWhole', 'true', 'a hundred groups are all');
select pg_temp.letters('wide', wide, repeat('x', 300), 1) from e;
select is(jsonb_array_length(outbox.group_dead_letters('wide') -> 'data') || ' ' || (outbox.group_dead_letters('wide') ->> 'isWhole'), '100 false', 'of more, the first hundred');
select is(length(outbox.group_dead_letters('wide', p_from => outbox.clock()) #>> '{data,0,error}') <= 200, true, 'an error has its first 200 characters');
select pg_temp.letters('many', many, 'down', 19990), pg_temp.letters('many', few, 'down', 10) from e;
select is(outbox.group_dead_letters('many') ->> 'isWhole', 'true', '20,000 are counted');
select is(outbox.group_dead_letters('many') #> '{data,0,count}', '19990', 'whatever the endpoints have of them');
select pg_temp.letters('many', many, 'down', 1, '1 h') from e;
select is(outbox.group_dead_letters('many') ->> 'isWhole', 'false', 'of more, the newest');
select is(jsonb_path_query_array(outbox.group_dead_letters('many'), '$.data[*].count'), '[19990, 10]', 'and no endpoint with few is left out');
select is(outbox.group_dead_letters('many', many) #> '{data,0,count}', '19991', 'one endpoint alone has all of them') from e;

create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select sum(c.rows) from helper.counters() c where c.relation = 'dead_letter');
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c where c.relation = 'dead_letter') - v_before;
end
$$;
select pg_temp.letters('many', many, 'down', 30000, '2 h') from e;
select cmp_ok(touched($$select outbox.group_dead_letters('many')$$), '<=', 25010::bigint, 'and no further row is touched, with old statistics');
analyze outbox.dead_letter;
select cmp_ok(touched($$select outbox.group_dead_letters('one')$$), '<=', 20::bigint, 'nor those of others, with fresh ones');
select cmp_ok(touched($$select outbox.group_dead_letters('many', p_from => outbox.clock() + interval '1 s')$$), '<=', 20::bigint, 'nor those from before the time');

select * from finish();
rollback;
