-- Modules: api
-- A limit that cannot be read hides no other metric, and no problem. A limit that is near degrades nothing.
begin;
\ir ../../_helpers.sql
select plan(9);

create function gauge(p_name text) returns jsonb language sql as $$
  select g -> 2 from jsonb_array_elements(outbox.get_metrics() -> 'gauges') g where g ->> 0 = p_name
$$;
-- Problems that other databases of the test server cause are of no interest here.
create or replace function outbox.near_limits(p_now timestamptz) returns table (name text, detail text, problem text)
language sql stable set search_path = '' as $$ select 'disk'::text, ''::text, 'the disk has 3% left'::text $$;
select is(outbox.get_health() -> 'warnings', '["the disk has 3% left"]', 'a limit that is near is a warning of health');
select is((select warnings from outbox.queue_health), '{the disk has 3% left}', 'and of queue_health');
select ok(not (outbox.get_health() -> 'problems') ? 'the disk has 3% left', 'and no problem');
select is(outbox.get_health() ->> 'status', case outbox.get_health() -> 'problems' when '[]' then 'ok' else 'degraded' end,
  'so it does not degrade the status');
create or replace function outbox.near_limits(p_now timestamptz) returns table (name text, detail text, problem text)
language plpgsql stable set search_path = '' as $$ begin raise exception 'no'; end $$;
select is(outbox.get_health() -> 'warnings', '["the limits of the database cannot be read: SQLSTATE P0001"]', 'an error is shown as a warning');

select is(gauge('limits_unreadable'), '0', 'the gauges can be read');
create or replace function outbox.databases_bytes() returns bigint
language plpgsql stable set search_path = '' as $$ begin raise exception 'no'; end $$;
select is(gauge('limits_unreadable'), '1', 'an error in one is shown as a gauge');
select is(gauge('connections'), null, 'all of them are missing');
select ok(outbox.get_metrics() ?& array['queue', 'counters'] and gauge('modules_unreadable') = '0', 'all other metrics are there');

select * from finish();
rollback;
