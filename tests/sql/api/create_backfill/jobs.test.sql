-- A backfill over the API: of an endpoint of the caller's organisation, and of its subscriptions only.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(19);

create temporary table made as select endpoint('{order.*}', p_org_id => 'org-1') as one, endpoint(p_org_id => 'org-2') as two;
create temporary table job as select outbox.create_backfill('org-1', one, '{"eventTypes": ["order.paid"], "from": "2026-03-01T10:00:00Z", "until": "2026-03-01T11:00:00Z", "filter": "$.a == 1", "ratePerSecond": 5}', 'key') as j from made;
select is(j - 'id' - 'endpointId', '{"status": "running", "source": "events", "eventTypes": ["order.paid"], "filter": "$.a == 1",
  "from": "2026-03-01T10:00:00.000Z", "until": "2026-03-01T11:00:00.000Z", "ratePerSecond": 5, "read": 0, "sent": 0, "skipped": 0,
  "includeDelivered": false, "reachedAt": null, "createdAt": "2026-03-01T12:00:00.000Z", "finishedAt": null}', 'a job') from job;
select is(j ->> 'endpointId', one::text, 'of the endpoint') from job, made;
select is((select by_subscription from outbox.replay_job), true, 'its subscriptions apply');
select is(outbox.create_backfill('org-1', one, '{"eventTypes": ["order.paid"], "from": "2026-03-01T10:00:00Z", "until": "2026-03-01T11:00:00Z", "filter": "$.a == 1", "ratePerSecond": 5}', 'key'), j, 'a repeat with its key returns it') from made, job;
select is((select count(*) from outbox.replay_job), 1::bigint, 'and starts no other');
select matches(refusal(format('select outbox.create_backfill(%L, %L, %L, %L)', 'org-1', one, '{}', 'key')), '^OH003 ', 'the key is for this request') from made;
select matches(refusal(format('select outbox.create_backfill(%L, %L, %L)', 'org-1', two, '{}')), '^OH002 endpoint .* does not exist', 'an endpoint of another organisation is none') from made;
select is((outbox.list_replay_jobs('org-1') -> 'data') -> 0, j, 'the list of replay jobs has it') from job;
select is(jsonb_array_length(outbox.list_replay_jobs('org-2') -> 'data'), 0, 'of its organisation alone');
update outbox.replay_job j set looked = 7, replayed = 5 where true;
select is(outbox.get_replay_job('org-1', j ->> 'id') @> '{"read": 7, "sent": 5}', true, 'it tells how many events it has read and sent') from job;
select is(outbox.change_replay_job('org-1', j ->> 'id', 'cancelled') ->> 'status', 'cancelled', 'it can be cancelled') from job;
select is(outbox.create_backfill('org-1', one, '{"includeDelivered": true}', 'again') ->> 'includeDelivered', 'true', 'it may include what was delivered') from made;
select matches(refusal(format('select outbox.create_backfill(%L, %L, %L, %L)', 'org-1', one, '{}', 'again')), '^OH003 ', 'which is part of the request') from made;
delete from outbox.replay_job where include_delivered;

-- A job that an operator started in SQL.
create temporary table ours as select outbox.backfill_events(one, p_by_subscription => false) ->> 'id' as id from made;
select matches(refusal(format('select outbox.get_replay_job(%L, %L)', 'org-1', id)), '^OH002 replay job .* does not exist', 'an operator''s backfill is not seen') from ours;
select matches(refusal(format('select outbox.change_replay_job(%L, %L, %L)', 'org-1', id, 'cancelled')), '^OH002 replay job .* does not exist', 'nor changed') from ours;
select is(jsonb_array_length(outbox.list_replay_jobs('org-1') -> 'data'), 1, 'nor listed');
update outbox.setting set value = '1' where name = 'limit.replay_jobs';
select is(refusal(format('select outbox.create_backfill(%L, %L, %L)', 'org-1', one, '{}')), 'accepted', 'it does not count for the limit of the organisation') from made;
select matches(refusal(format('select outbox.create_backfill(%L, %L, %L)', 'org-1', one, '{}')), '^OH010 ', 'whose own jobs do') from made;
select is(refusal(format('select outbox.backfill_events(%L)', one)), 'accepted', 'but not an operator''s') from made;

select * from finish();
rollback;
