-- A test event is for an endpoint that can be reached now; elsewhere the refusal says what stands in the way.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

create temporary table made as select endpoint('{order.paid}', p_breaker => true) as id;
create temporary table tested as select (outbox.send_test_event(id) ->> 'event_id')::uuid as event from made;
create temporary table answer as select step() as a;
select is(claimed_events(a), array[event], 'a test event goes to the endpoint whatever it is subscribed to') from answer, tested;
select is(a -> 'events' -> event::text ->> 'type', 'outhook.test', 'its type') from answer, tested;
select is(a -> 'events' -> event::text ->> 'body', '{"test": true}', 'its body') from answer, tested;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;

select events(5, p_endpoint_id => id) from made;
select fail(500);
select is(refusal(format('select outbox.send_test_event(%L)', id)), format('OH006 the breaker of endpoint %s is open', id), 'refused while the breaker is open') from made;
select time_passes('30 s');
update answer set a = step() where true;
select is(refusal(format('select outbox.send_test_event(%L)', id)), format('OH006 the breaker of endpoint %s is half_open', id), 'and while it is half open') from made;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;
select is(refusal(format('select outbox.send_test_event(%L)', id)), 'accepted', 'taken once it is closed') from made;

select outbox.pause_endpoint(id) from made;
select is(refusal(format('select outbox.send_test_event(%L)', id)), format('OH004 endpoint %s is paused', id), 'refused while it is paused') from made;
select outbox.disable_endpoint(id) from made;
select is(refusal(format('select outbox.send_test_event(%L)', id)), format('OH004 endpoint %s is disabled', id), 'refused while it is disabled') from made;
select outbox.resume_endpoint(id) from made;
select is(refusal(format('select outbox.send_test_event(%L)', id)), 'accepted', 'taken once it is resumed') from made;
select outbox.delete_endpoint(id) from made;
select is(refusal(format('select outbox.send_test_event(%L)', id)), format($$OH002 endpoint '%s' does not exist$$, id), 'a deleted endpoint is unknown') from made;
select is(refusal('select outbox.send_test_event(null)'), 'OH002 endpoint NULL does not exist', 'and so is none');
select is((select count(*) from outbox.event where type = 'outhook.test'), 3::bigint, 'what was refused published nothing');

select * from finish();
rollback;
