-- Work that is due every n seconds is done although a tick skips that second.
begin;
\ir ../../_helpers.sql
select plan(6);
-- It locks the sequence, which the tick of pg_cron moves each second, also for this transaction.
alter sequence outbox.last_tick_second cache 1;

create function tick_at(p_at text) returns boolean language plpgsql as $$
declare
  v_due boolean;
begin
  perform time_is(('2026-03-01 ' || p_at)::timestamptz);
  v_due := outbox.comes_round(60, outbox.clock());
  perform outbox.tick();
  return v_due;
end
$$;
select is(tick_at('12:00:30 UTC'), false, 'within the minute it is not due');
select is(tick_at('12:00:59.98 UTC'), false, 'up to its end');
select is(tick_at('12:01:01.02 UTC'), true, 'it is due in the first tick of the next minute, also if that is not in its first second');
select is(tick_at('12:01:02 UTC'), false, 'once');
select is(tick_at('12:02:00 UTC'), true, 'it is due in its second');

-- With pg_cron before 1.5, no tick may ever be in the first second of a minute.
do $$ begin
  perform outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40)), endpoint(),
    outbox.set_setting('worker.poll_interval_ms', '60000'), outbox.set_setting('kick.on_commit', 'false'), events(1),
    setval('outbox.kicks_without_run', 0, false), tick_at('12:02:59 UTC'), tick_at('12:03:01 UTC');
end $$;
select is((select count(*)::integer from net.http_request_queue), 1, 'so due work is kicked for, whatever worker.poll_interval_ms is');

select * from finish();
rollback;
