-- What was sent in a month: from its first tick on, and unknown before it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(9);

create function sent() returns bigint language sql as $$ select outbox.sent_in_month(outbox.clock()) $$;
create function traffic() returns text language sql as $$
  select n.detail || coalesce(': ' || n.problem, '') from outbox.near_limits(outbox.clock()) n where n.name = 'traffic'
$$;
create function tick_now() returns void language sql as $$ select from (select outbox.upkeep(outbox.clock(), 'infinity')) t $$;
-- A payload of 600 kB, sent once.
create function send_one() returns integer language plpgsql as $$
begin
  perform outbox.publish('a', jsonb_build_object('text', repeat('x', 600000)));
  return send();
end
$$;
create temporary table made as select endpoint(array['a']) as id;
delete from outbox.counter where true;
delete from outbox.counter_change where true;
select outbox.set_setting('traffic.mib_per_month', '1'), outbox.set_setting('publish.max_body_bytes', '1048576');
select time_is('2026-03-31 23:59:00+00');

select is(sent(), null::bigint, 'before the first tick of a month it is not known');
select tick_now();
select is(sent(), 0::bigint, 'the month of the installation begins with its first tick');
select is(send_one(), 1, 'something is sent');
select ok(sent() between 600000 and 601000, 'and counts');
select is(traffic(), '586 kB of 1024 kB', 'it is no problem yet');

-- More than the limit in all, and nothing in the new month.
select is(send_one(), 1, 'more is sent');
select time_is('2026-04-01 00:00:00+00');
select is(traffic(), 'not yet known of 1024 kB', 'until the first tick of the next month nothing warns');
select tick_now(), tick_now();
select is(traffic(), '0 bytes of 1024 kB', 'from then on the month before is left out');
select is((select count(*)::integer from outbox.counter where metric = 'sent_before'), 2, 'each month has one note');

select * from finish();
rollback;
