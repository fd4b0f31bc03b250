-- What is still open 30 days after its event, or after its replay, becomes a dead letter, whatever holds it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

create temporary table made as select endpoint('{plain.*}') as plain, endpoint('{paused.*}') as paused, endpoint('{ordered.*}', p_ordering => 'endpoint') as ordered,
  endpoint('{lost.*}') as lost, endpoint('{replayed.*}') as replayed, endpoint('{young.*}') as young;
select outbox.disable_endpoint(paused), outbox.set_setting('endpoint.disable_after_days', '365') from made;
create temporary table event as select (events(1, 'plain.a'))[1] as plain, (events(1, 'paused.a'))[1] as paused, events(2, 'ordered.a') as ordered,
  (events(1, 'lost.a'))[1] as lost, (events(1, 'replayed.a'))[1] as replayed;
create temporary table answer as select step() as a;
-- One waits for its retry, one lane is halted, one is lost with its run, one is replayed ten days on.
update outbox.endpoint e set on_dead_letter = 'halt' from made where e.id = ordered;
select step(0, results_of(a, plain, 'failed', '{"status": 500}') || (results_of(a, ordered, 'failed', '{"status": 404}') - 1) || (results_of(a, ordered, 'released') - 0)
  || results_of(a, replayed, 'delivered')) from answer, made;
select outbox.schedule_retry(e.plain, m.plain, '7 days') from event e, made m;
select outbox.pause_endpoint(plain), outbox.pause_endpoint(lost) from made;
select time_passes('10 d');
select outbox.replay(e.replayed, m.replayed) from event e, made m;
select outbox.pause_endpoint(replayed), outbox.pause_endpoint(young) from made;
create temporary table young as select (events(1, 'young.a'))[1] as event;
select step(0);
select time_passes('20 d');
select outbox.tick();
select is((select count(*) from outbox.dead_letter where why = 'expired'), 0::bigint, 'thirty days after to the second all are open');
select is((select count(*) from outbox.delivery d join made on d.endpoint_id in (plain, paused, ordered, lost, replayed, young)), 6::bigint, 'six of them');
select time_passes('1 ms');
select outbox.tick();
select set_eq($$select event_id from outbox.dead_letter where why = 'expired'$$, 'select unnest(array[plain, paused, ordered[2], lost]) from event', 'a millisecond later they are dead letters: waiting, disabled, halted, lost');
select is((select count(*) from outbox.delivery d join made on d.endpoint_id in (plain, paused, ordered, lost, replayed, young)), 2::bigint, 'the replayed and the young one stay');
select is(attempts(e.plain, m.plain), '1 failed, 1 closed as expired', 'each with a closing row') from event e, made m;
select is(attempts(e.paused, m.paused), '0 closed as expired', 'also what was never tried') from event e, made m;
select is(attempts(e.lost, m.lost), '1 failed, 1 closed as expired', 'a lost try is recorded first') from event e, made m;
select is((select retry_count from outbox.dead_letter join event e on event_id = e.lost), 0, 'and uses up no retry');
select is((select retry_count from outbox.dead_letter join event e on event_id = e.paused), 0, 'what was never tried has no failures');
select is((select error from outbox.dead_letter join event e on event_id = e.plain), 'still open after the retention of events', 'it says why');
select is(status_of(e.plain, m.plain), 'expired', 'delivery_status says so') from event e, made m;
select is((select string_agg(distinct status, ',') from outbox.webhook_outbox w join event e on w.id in (e.plain, e.lost, e.paused)), 'DEAD_LETTER', 'webhook_outbox says DEAD_LETTER');
select is((select string_agg(distinct status, ',') from outbox.transaction_outbox w join event e on w.id in (e.plain, e.lost, e.paused)), 'dlq', 'transaction_outbox says dlq');
select set_eq($$select (n ->> 'eventId')::uuid from news('outhook.delivery.dead_lettered') n where n ->> 'why' = 'expired'$$,
  'select unnest(array[plain, paused, ordered[2], lost]) from event', 'each is announced');
select outbox.tick();
select is((select count(*) from outbox.dead_letter where why = 'expired'), 4::bigint, 'the second time there is nothing');
select is_empty('select * from miscounts()', 'the counters are right');

-- The replayed one has thirty days from its replay.
select time_passes('9 d 23:59:59.999');
select outbox.tick();
select is((select count(*) from outbox.dead_letter where why = 'expired'), 4::bigint, 'thirty days after the replay to the second it is open');
select time_passes('1 ms');
select outbox.tick();
select set_eq($$select event_id from outbox.dead_letter where why = 'expired'$$, 'select unnest(array[plain, paused, ordered[2], lost, replayed]) from event union all select event from young',
  'a millisecond later it is a dead letter, and so is what was published then');
select is(attempts(e.replayed, m.replayed), '1 delivered, 1 closed as expired', 'which ends its second life') from event e, made m;

-- Replayed, an expired one begins a new life of thirty days.
select outbox.replay(e.plain, m.plain) from event e, made m;
select outbox.tick();
select is(status_of(e.plain, m.plain), 'held', 'replayed, it is open again') from event e, made m;
select outbox.resume_endpoint(plain) from made;
select outbox.tick();
create temporary table again as select step() as a;
select is(claimed_events(a, m.plain), array[e.plain], 'and is sent') from again, event e, made m;
-- What is being sent when its time comes is left alone.
update outbox.delivery set leased_until = leased_until + interval '30 days 10 s', replayed_at = replayed_at - interval '30 days 1 s' where true;
select outbox.tick();
select is(step(0, results_of(a, plain, 'delivered')) -> 'applied', '1', 'what is being sent when its time comes ends as it ends') from again, made;
select is(status_of(e.plain, m.plain), 'delivered', 'delivered') from event e, made m;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
