-- A day is a day of UTC under all settings of a session, and partitions that were made under others are left in use.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

create function days(p_table text, p_year text) returns table (since timestamptz, until timestamptz) language sql stable as $$
  select p.since, p.until from outbox.partitions(p_table) p where p.name ~ ('_p' || p_year) order by 1
$$;
-- Each in a year of its own, and read under the others.
create function made_under(p_style text, p_zone text, p_at timestamptz) returns jsonb language plpgsql as $$
begin
  perform set_config('datestyle', p_style, true), set_config('timezone', p_zone, true), helper.time_is(p_at);
  return outbox.add_partitions() || jsonb_build_object('again', outbox.add_partitions() -> 'made');
end
$$;
create function days_of(p_at timestamptz) returns table (since timestamptz, until timestamptz) language sql as $$
  select d, d + interval '24 h' from generate_series(0, 7) k, lateral (select p_at - interval '23:30' + k * interval '24 h' as d) d order by 1
$$;
select is(made_under('SQL, DMY', 'Asia/Shanghai', '2011-01-10 23:30Z'), '{"made": 16, "late": [], "again": 0}', 'in Shanghai each day is made once');
select is(made_under('German', 'America/New_York', '2012-01-10 23:30Z'), '{"made": 16, "late": [], "again": 0}', 'in New York too');
select is(made_under('Postgres, YMD', 'Asia/Kathmandu', '2013-01-10 23:30Z'), '{"made": 16, "late": [], "again": 0}', 'in Kathmandu too');
set local datestyle = 'SQL, DMY';
set local timezone = 'Asia/Shanghai';
select results_eq(format('select * from days(%L, %L)', p, extract(year from at at time zone 'UTC')), format('select * from days_of(to_timestamp(%s))', extract(epoch from at)), format('the bounds of %s in %s are days of UTC', p, what))
from (values (timestamptz '2011-01-10 23:30Z', 'Shanghai'), ('2012-01-10 23:30Z', 'New York'), ('2013-01-10 23:30Z', 'Kathmandu')) x (at, what), unnest(array['event', 'attempt']) p order by at, p;

-- What earlier versions made there: days that begin 14 hours late, beside correct ones before them.
create function shifted(p_day date) returns void language plpgsql as $$
declare
  v_from timestamptz := p_day::timestamp at time zone 'UTC' + interval '14 h';
begin
  execute format('create table outbox.%I partition of outbox.event for values from (%L) to (%L)', outbox.partition_name('event', p_day),
    outbox.uuid_v7_floor(v_from), outbox.uuid_v7_floor(v_from + interval '24 h'));
  execute format('create table outbox.%I partition of outbox.attempt for values from (to_timestamp(%s)) to (to_timestamp(%s))', outbox.partition_name('attempt', p_day),
    extract(epoch from v_from), extract(epoch from v_from + interval '24 h'));
end
$$;
set local datestyle = 'ISO, YMD';
set local timezone = 'UTC';
select time_is('2020-02-01 12:00:00+00');
select outbox.add_partition('event', '2020-02-01'), outbox.add_partition('attempt', '2020-02-01');
select shifted('2020-02-02'), shifted('2020-02-03');
set local timezone = 'Asia/Tokyo';
select is(outbox.add_partitions(), '{"made": 12, "late": []}', 'the hole before them and the days after them are made');
select is(outbox.add_partitions(), '{"made": 0, "late": []}', 'once');
set local timezone = 'UTC';
select results_eq($$select name, since, until from outbox.partitions('event') where name ~ '_p202002' limit 5$$, $$values
  ('event_p20200201', '2020-02-01 00:00Z'::timestamptz, '2020-02-02 00:00Z'::timestamptz),
  ('event_p20200202x', '2020-02-02 00:00Z', '2020-02-02 14:00Z'), ('event_p20200202', '2020-02-02 14:00Z', '2020-02-03 14:00Z'),
  ('event_p20200203', '2020-02-03 14:00Z', '2020-02-04 14:00Z'), ('event_p20200204', '2020-02-04 14:00Z', '2020-02-05 00:00Z')$$,
  'each part of time has a partition');
select is_empty(format($$select from (select p.until, lead(p.since) over (order by p.since) as next from outbox.partitions(%L) p where p.name ~ '_p202002') x where next <> until$$, t),
  'without a hole in ' || t) from unnest(array['event', 'attempt']) t;

-- An event of the morning of the 3rd lies in what is called the 2nd. It waits at a paused endpoint for 30 days.
select time_is('2020-02-03 01:00:00+00');
create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select step(0);
select outbox.pause_endpoint(id), outbox.set_setting('endpoint.disable_after_days', '365') from made;
select is(v.tableoid::regclass::text, 'outbox.event_p20200202', 'it lies in the partition whose bounds have it') from outbox.event v join event using (id);
do $$ begin
  for n in 1 .. 20 loop
    perform time_is(date '2020-02-04'::timestamp at time zone 'UTC' + n * interval '1 d'), outbox.drop_partitions();
  end loop;
end $$;
select is((select count(*) from outbox.event join event using (id)), 1::bigint, 'after twenty nights it is there');
select is((select string_agg(name, ' ' order by name) from outbox.partitions('event') where name ~ '_p202002'), 'event_p20200202', 'and the others are gone');
select is((select clean_nights from outbox.partition_check where name = 'event_p20200202'), 0, 'no night counts');
select outbox.resume_endpoint(id) from made;
create temporary table answer as select step() as a;
select is(claimed_events(a, made.id), array[event.id], 'resumed, it is claimed') from answer, made, event;
select is((select a -> 'events' -> event.id::text ->> 'body'), '{}', 'with its body') from answer, event;
select step(0, results(a, 'delivered')) from answer;
select is(outbox.replay(event.id, made.id) -> 'replaced', 'false', 'a replay of it restarts the nights of that partition') from event, made;
select is((select count(*) from outbox.partition_check where clean_nights > 0 and name ~ '2020'), 0::bigint, 'and of no other');

-- A default partition with more rows of a day than one move takes.
select time_is('2021-03-01 12:00:00+00');
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(outbox.clock()), 'o', 'a', '{}', outbox.clock() from generate_series(1, 10001);
select is(outbox.add_partitions(), '{"made": 15, "late": []}', 'a day with too many rows in DEFAULT gets no partition, all others do');
delete from outbox.event v where v.id = (select max(o.id::text)::uuid from outbox.event_default o);
select is(outbox.add_partitions(), '{"made": 1, "late": []}', 'with as many as fit it does');

select * from finish();
rollback;
