-- on_dead_letter: an ordered key goes on behind a dead letter, or stands still until somebody says so.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(27);

create temporary table made as select endpoint(p_ordering => 'partition') as halting, endpoint(p_ordering => 'partition') as going;
update outbox.endpoint e set on_dead_letter = 'halt' from made where e.id = halting;
create temporary table event as select events(3, p_key => 'a') as a, events(2, p_key => 'b') as b, events(2) as none;
-- The first of key a is refused by both, the rest is given back; b and the events without a key are delivered.
create temporary table answer as select step() as answer;
select step(0, (
  select jsonb_agg(r || case when r ->> 'event' = a[1]::text then '{"outcome": "failed", "status": 404}'
    when (r ->> 'event')::uuid = any (a) then '{"outcome": "released"}' else '{"outcome": "delivered"}' end::jsonb)
  from answer, jsonb_array_elements(results(answer, 'delivered')) r, event));
select is((select count(*) from outbox.dead_letter), 2::bigint, 'both have a dead letter');
create temporary table next_answer as select step() as answer;
select is(claimed_events(answer, going), a[2:3], 'with continue the key goes on') from next_answer, made, event;
select is(claimed(answer, halting), 0, 'with halt it stands still') from next_answer, made;
select results_eq('select distinct status, held_because from outbox.delivery_status join made on halting = endpoint_id where finished_at is null',
  $$values ('held', 'halted after a dead letter')$$, 'its deliveries are held, and say why');
select step(0, results(answer, 'delivered')) from next_answer;

-- New ones of the key join; other keys are served.
create temporary table more as select events(1, p_key => 'a') as a, events(1, p_key => 'c') as c;
select is(claimed_events(step(), halting), c, 'other keys are served, what is new of this one waits') from made, more;
select time_passes('30 d'), time_passes('-25 d');
select is((select count(*) from outbox.delivery d join more m on d.event_id = a[1] join made on d.endpoint_id = halting), 1::bigint, 'it waits for days');
select is(claimed_events(step(), halting) && (select event.a || more.a from event, more), false, 'and is not sent') from made;

select is(outbox.resume_lane(halting, 'a'), jsonb_build_object('endpoint_id', halting, 'partition_key', 'a', 'open', 3), 'resume_lane() lets it go on, and says how much is open') from made;
update answer set answer = step() where true;
select is((select array_agg(e order by n) from unnest(claimed_events(answer, halting)) with ordinality x (e, n) where e in (select unnest(event.a || more.a) from event, more)),
  event.a[2:3] || more.a, 'in its order') from answer, made, event, more;
select step(0, results(answer, 'delivered')) from answer;
select is(refusal(format('select outbox.resume_lane(%L, ''a'')', halting)), format($$OH004 key 'a' of endpoint %s is not halted$$, halting), 'a key that is not halted is refused') from made;
select is(refusal(format('select outbox.resume_lane(%L, ''zz'')', halting)), format($$OH004 key 'zz' of endpoint %s is not halted$$, halting), 'so is an unknown one') from made;
create temporary table plain as select endpoint() as id;
select is(refusal(format('select outbox.resume_lane(%L)', id)), format('OH004 key NULL of endpoint %s is not halted', id), 'so is an endpoint without order') from plain;
select is(refusal('select outbox.resume_lane(null)'), 'OH002 endpoint NULL does not exist', 'so is none');

-- The last of a key dies: the halt outlives the empty lane, and its end takes the lane away.
create temporary table last as select events(1, p_key => 'd') as d;
update answer set answer = step() where true;
select step(0, results_of(answer, halting, 'failed', '{"status": 404}') || results_of(answer, going, 'delivered')) from answer, made;
select is((select count(*) from outbox.lane where halted and depth = 0), 1::bigint, 'a halted lane stays though nothing is in it');
create temporary table late as select events(1, p_key => 'd') as d;
select is(claimed(step(), halting), 0, 'what comes later waits') from made;
select is(outbox.resume_lane(halting, 'd') -> 'open', '1', 'until it is resumed') from made;
select is(claimed_events(step(), halting), d, 'then it is sent') from made, late;
select time_passes('20 s'), send(), time_passes('1 min'), send();

-- The same, resumed while it is empty.
select events(1, p_key => 'e');
update answer set answer = step() where true;
select step(0, results_of(answer, halting, 'failed', '{"status": 404}') || results_of(answer, going, 'delivered')) from answer, made;
select is(outbox.resume_lane(halting, 'e') -> 'open', '0', 'an empty lane is resumed too') from made;
select is((select count(*) from outbox.lane l join outbox.gate g on g.id = l.gate_id join made on g.endpoint_id = halting where l.depth = 0), 0::bigint, 'and goes, as every empty one');
create temporary table again as select events(1, p_key => 'e') as e;
select is(claimed_events(step(), halting), e, 'what comes later is sent') from made, again;

-- Events without a key are one key; with order over the whole endpoint there is one lane.
create temporary table whole as select endpoint('{whole.event}', p_ordering => 'endpoint') as id;
update outbox.endpoint e set on_dead_letter = 'halt' from whole where e.id = whole.id;
create temporary table whole_event as select events(2, 'whole.event', p_key => 'x', p_endpoint_id => id) as ids from whole;
update answer set answer = step() where true;
select step(0, (results_of(answer, id, 'failed', '{"status": 404}') - 1) || (results_of(answer, id, 'released') - 0)) from answer, whole;
select is(claimed(step(), id), 0, 'order over the whole endpoint halts it all') from whole;
select is(outbox.resume_lane(id, 'whatever') -> 'open', '1', 'and is resumed whatever the key') from whole;
select is(claimed_events(step(), id), ids[2:2], 'it goes on') from whole, whole_event;

-- Halting while others of the lane are still out: the lease's own end matters.
create temporary table lost as select endpoint('{lost.event}', p_ordering => 'endpoint', p_retry => plain_retry(0)) as id;
update outbox.endpoint e set on_dead_letter = 'halt' from lost where e.id = lost.id;
create temporary table lost_event as select events(2, 'lost.event', p_endpoint_id => id) as ids from lost;
select is(claimed(step(), id), 2, 'a run takes both') from lost;
update outbox.delivery d set lost_leases = 4 from lost where d.endpoint_id = lost.id;
select time_passes('1 h'), step();
select is((select string_agg(status, ',') from outbox.delivery_status join lost on id = endpoint_id), 'dead_letter,dead_letter', 'with too many lost leases, both are dead letters');
select is((select count(*) from outbox.lane l join outbox.gate g on g.id = l.gate_id join lost on g.endpoint_id = lost.id where l.halted), 1::bigint, 'and the lane is halted');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
