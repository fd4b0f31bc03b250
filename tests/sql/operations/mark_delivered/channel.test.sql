-- Modules: messages
-- mark_delivered() leaves out message channels: a message that was sent is not shown as cancelled.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(5);

-- Steps until there is none; how many.
create function work() returns integer language plpgsql as $$
declare
  v_n integer := 0;
begin
  while outbox.work_delivered_marks(outbox.clock()) loop
    v_n := v_n + 1;
    if v_n > 200 then
      raise 'the job does not end';
    end if;
  end loop;
  return v_n;
end
$$;
create function marked() returns text language sql stable as $$
  select marked || case when finished_at is null then ' goes on' else ' done' end from outbox.delivered_mark order by id desc limit 1
$$;

create temporary table made as select channel() as channel_id, template() as code, endpoint('{a}') as a;
create temporary table m as select message_id(message()) as id, events(1, 'a') as events;
do $$ begin perform step(0), time_passes('1 s'); end $$;
select is(refusal(format('select outbox.mark_delivered(outbox.clock(), p_endpoint_id => %L)', channel_id)), 'OH001 endpoint_id is a channel', 'a job of a channel is refused') from made;
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), '1 done', 'a job of all ends the deliveries of webhooks');
select is((row_of(id)).status, 'QUEUED', 'the message waits as before') from m;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created'], 'with nothing in its audit') from m;
select is(take_all(), 1, 'and is sent');

select * from finish();
rollback;
