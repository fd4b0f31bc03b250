-- What is open and not halted is no key to be resumed, and what a person sets going is kicked.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(5);

create temporary table made as select endpoint('{a}', p_ordering => 'partition') as id;
create temporary table event as select events(2, 'a', 'k') as ids;
select fail(500);
select is(refusal(format('select outbox.resume_lane(%L, ''k'')', id)), format('OH004 key ''k'' of endpoint %s is not halted', id),
  'a key that waits for its retry is not halted') from made;

-- How many kicks a piece of work makes, as if it were a transaction of its own.
create function kicks(p_work text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select count(*) from net.http_request_queue);
begin
  perform set_config('outbox.kicked', '', true), helper.time_passes('1 min');
  execute p_work;
  return (select count(*) from net.http_request_queue) - v_before;
end
$$;
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
select is(kicks(format('select outbox.retry_now(%L, %L)', ids[1], id)), 1::bigint, 'retry_now() kicks') from made, event;
select is(send(), 2, 'and all of the key goes') from made;
select is(kicks(format('select outbox.replay(%L, %L)', ids[1], id)), 1::bigint, 'replay() kicks') from made, event;
update outbox.lane l set halted = true from made join outbox.gate g on g.endpoint_id = made.id where l.gate_id = g.id and l.ordered;
insert into outbox.lane (gate_id, ordered, key_hash, halted) select g.id, true, outbox.key_hash('partition', 'x'), true from made join outbox.gate g on g.endpoint_id = made.id;
select is(kicks(format('select outbox.resume_lane(%L, ''x'')', id)), 1::bigint, 'resume_lane() kicks') from made;

select * from finish();
rollback;
