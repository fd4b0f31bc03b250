-- A partition a day, a week ahead; rows that had none lie in DEFAULT and move when theirs is made.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

-- Long before any partition that the database has.
select time_is('2020-02-28 23:59:59.999+00');
create temporary table made as select endpoint() as id;
create temporary table event (name text, id uuid);
insert into event values ('last of the 28th', (events(1))[1]);
select time_passes('1 ms');
insert into event values ('first of the 29th', (events(1))[1]);
select send();
select time_passes('23:59:59.999');
insert into event values ('last of the 29th', (events(1))[1]);
select time_passes('1 ms');
insert into event values ('first of March', (events(1))[1]);
select send();
select time_is('2020-02-28 12:00:00+00');
select is((select rows_in_default from outbox.queue_health), 8::bigint, 'four events and four attempts lie in DEFAULT, and are counted');
select is(outbox.add_partitions(), '{"made": 16, "late": []}', 'today and seven days ahead, of event and attempt');
select is(outbox.add_partitions(), '{"made": 0, "late": []}', 'the second time there is nothing to make');
select set_eq($$select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'outbox.event'::regclass and c.relname ~ '2020'$$,
  $$select 'event_p' || to_char(d, 'YYYYMMDD') from generate_series('2020-02-28'::timestamp, '2020-03-06', '1 day') d$$, 'one a day, the leap day too');
select results_eq('select name, v.tableoid::regclass::text from event e join outbox.event v on v.id = e.id order by e.id', $$values
  ('last of the 28th', 'outbox.event_p20200228'), ('first of the 29th', 'outbox.event_p20200229'), ('last of the 29th', 'outbox.event_p20200229'), ('first of March', 'outbox.event_p20200301')$$,
  'each event has moved to its day, to the millisecond');
select results_eq('select tableoid::regclass::text, count(*) from outbox.attempt group by 1 order by 1', $$values ('outbox.attempt_p20200229', 2::bigint), ('outbox.attempt_p20200301', 2)$$,
  'each attempt to the day on which it was written');
select is((select rows_in_default from outbox.queue_health), 0::bigint, 'DEFAULT is empty');

-- What is published now goes to its partition at once; further ahead to DEFAULT, and nobody fails for it.
insert into event values ('now', (events(1))[1]);
select is((select v.tableoid::regclass::text from outbox.event v join event e on e.id = v.id where name = 'now'), 'outbox.event_p20200228', 'what is published goes to its day');
select time_is('2020-03-07 00:00:00+00');
insert into event values ('too early', (events(1))[1]);
select is((select v.tableoid::regclass::text from outbox.event v join event e on e.id = v.id where name = 'too early'), 'outbox.event_default', 'a day without a partition goes to DEFAULT');
create temporary table answer as select step() as a;
select is(claimed(a), 1, 'and is delivered from there') from answer;
select is(outbox.add_partitions() -> 'made', '16', 'then the days are made');
select step(0, results(a, 'delivered')) from answer;
select is((select v.tableoid::regclass::text from outbox.event v join event e on e.id = v.id where name = 'too early'), 'outbox.event_p20200307', 'and it moves while it is under way');
select is(status_of(e.id, m.id), 'delivered', 'and is delivered') from event e, made m where name = 'too early';

-- Each partition is like its parent: rights, indexes, checks.
select is_empty($$select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass) and not c.relrowsecurity$$, 'each has row security');
select is_empty($$select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass)
    and (select count(*) from pg_index x where x.indrelid = c.oid) <> (select count(*) from pg_index x where x.indrelid = i.inhparent)$$, 'each has its parent''s indexes and no more');
select is_empty($$select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid, unnest('{anon,authenticated}'::text[]) r
  where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass) and has_table_privilege(r, c.oid, 'select, insert, update, delete')$$, 'none is open to anybody');
select is_empty($$select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'outbox.attempt'::regclass
    and (select count(*) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c') <> (select count(*) from pg_constraint k where k.conrelid = i.inhparent and k.contype = 'c')$$,
  'each has its parent''s checks');
-- A time zone of the session changes no bound. pg_get_expr() shows it in the DateStyle of the session.
set local timezone = 'Pacific/Auckland';
set local datestyle = 'ISO, MDY';
select time_is('2020-06-01 13:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select is((select pg_get_expr(relpartbound, oid) from pg_class where relname = 'attempt_p20200601'),
  $$FOR VALUES FROM ('2020-06-01 12:00:00+12') TO ('2020-06-02 12:00:00+12')$$, 'a day is a day of UTC, whatever the session''s time zone');
select is((select pg_get_expr(relpartbound, oid) from pg_class where relname = 'event_p20200601'),
  format('FOR VALUES FROM (%L) TO (%L)', outbox.uuid_v7_floor('2020-06-01 00:00:00+00'), outbox.uuid_v7_floor('2020-06-02 00:00:00+00')), 'and so for event');
select results_eq($$select since, until from outbox.partitions('event') where name = 'event_p20200229'$$, $$values ('2020-02-29 00:00Z'::timestamptz, '2020-03-01 00:00Z'::timestamptz)$$, 'partitions() reads them, whatever the settings');
select is((select schedule || ' ' || command from cron.job where jobname = 'outhook-partitions'), '7 * * * * select outbox.add_partitions()', 'pg_cron makes them every hour');

select * from finish();
rollback;
