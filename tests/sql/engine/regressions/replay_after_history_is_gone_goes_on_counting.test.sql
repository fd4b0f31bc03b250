begin;
\ir ../../_helpers.sql
select plan(2);

-- The dead letter outlives the attempts: what it remembers is the last attempt number there was.
do $$
begin
  perform endpoint('{*}'), events(1);
  perform step(0, results(step(), 'failed', '{"status": 404}'));
  perform outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x;
  perform step(0, results(step(), 'delivered'));
  delete from outbox.attempt a where true;
  perform outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x;
end $$;
select is(step() #>> '{deliveries,0,attempt}', '3', 'after a replay that was delivered');
do $$
begin
  perform time_passes('21 s'), outbox.cancel_delivery(x.event_id, x.endpoint_id) from outbox.dead_letter x;
  delete from outbox.attempt a where true;
  perform outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x;
end $$;
select is(step() #>> '{deliveries,0,attempt}', '4', 'after one that was cancelled');

select * from finish();
rollback;
