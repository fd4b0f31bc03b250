-- A paused endpoint sends nothing and loses nothing; what is under way ends, what is new joins.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(20);

create temporary table made as select endpoint() as id, endpoint() as other;
create temporary table event as select events(5) as ids;
create temporary table answer as select step() as a;
create temporary table said as select outbox.pause_endpoint(id, 'their maintenance') as s from made;
select is(s, jsonb_build_object('id', id, 'status', 'paused', 'was', 'enabled', 'reason', 'their maintenance', 'open', 5), 'it says what was and how much is open') from said, made;
-- Attempts under way end as they end.
select step(0, results_of(a, other, 'delivered', '{"status": 200}') || (results_of(a, id, 'failed', '{"status": 500}') - 4 - 3 - 2)
  || (results_of(a, id, 'delivered', '{"status": 200}') - 0 - 0 - 0)) from answer, made;
select is(status_of(ids[3 + n], id), 'delivered', 'a success that was under way is a success') from event, made, generate_series(1, 2) n;
select is(status_of(ids[1], id), 'held', 'a failure that was under way is held') from event, made;
select is(attempts(ids[1], id), '1 failed', 'with its attempt') from event, made;
select is(status_of(ids[3], id), 'processing', 'what is still under way is processing') from event, made;

create temporary table more as select events(3) as ids;
select is(claimed(step(), other), 3, 'another endpoint gets new events') from made;
select results_eq('select status, held_because, count(*) from outbox.delivery_status join made on id = endpoint_id where finished_at is null group by 1, 2 order by 1',
  $$values ('held', 'endpoint paused: their maintenance', 5::bigint), ('processing', 'endpoint paused: their maintenance', 1)$$,
  'the paused one''s join what is held, which says why');
select results_eq('select status, reason, open, in_flight from outbox.endpoint_status join made using (id)',
  $$values ('paused', 'their maintenance', 6::bigint, 1)$$, 'endpoint_status counts them');
select is((select endpoints_held from outbox.queue_health), 1::bigint, 'queue_health counts the endpoint');
select is((select open from outbox.queue_health), 9::numeric, 'and the deliveries');
select time_passes('3 h');
select is(claimed(step(), id), 0, 'nothing is sent hours later') from made;
select is(claimed(other_step(), id), 0, 'to no run') from made;
select is(failed_attempts_of(ids[1], id), 1, 'and no try is spent') from event, made;
select is((select count(*) from outbox.dead_letter), 0::bigint, 'nothing becomes a dead letter');

-- Pausing twice is no error; the reason is the last one.
select is(outbox.pause_endpoint(id) ->> 'was', 'paused', 'pausing twice is no error') from made;
select is((select status_reason from outbox.endpoint join made using (id)), 'paused by hand', 'a reason need not be given');
select is((select count(*) from outbox.event where org_id = 'outhook'), 0::bigint, 'a pause is nobody''s news');
select is(refusal('select outbox.pause_endpoint(''00000000-0000-0000-0000-000000000000'')'),
  $$OH002 endpoint '00000000-0000-0000-0000-000000000000' does not exist$$, 'an unknown endpoint is refused');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
