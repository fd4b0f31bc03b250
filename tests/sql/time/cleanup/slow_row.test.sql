-- A row whose deletion takes too long: the cleanup finds it, leaves it out for a day and shows it.
begin;
\ir ../../_helpers.sql
select plan(28);

create function sleeps() returns trigger language plpgsql as $$
begin
  perform pg_sleep(60);
  return old;
end
$$;
create trigger sleeps before delete on outbox.idempotency_key for each row when (old.key like 'slow%') execute function sleeps();
create function add(variadic p_keys text[]) returns void language sql as $$
  insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
  select 'org', k, gen_random_uuid(), '', outbox.clock() - interval '30 d' + n * interval '1 ms' from unnest(p_keys) with ordinality x (k, n)
$$;
create function keys() returns text language sql as $$ select string_agg(k.key, ' ' order by k.created_at) from outbox.idempotency_key k $$;
-- One start of the job, which has only this step to do.
create function start() returns integer language plpgsql as $$
declare
  v_pieces integer := 0;
begin
  insert into outbox.cleanup_progress (name, done_on)
  select s.name, (outbox.clock() at time zone 'UTC')::date from outbox.cleanup_step s where s.name <> 'idempotency_keys'
  on conflict (name) do update set done_on = excluded.done_on;
  while outbox.cleanup_next() loop
    v_pieces := v_pieces + 1;
    exit when v_pieces >= 50;
  end loop;
  return v_pieces;
end
$$;
create function refused() returns text language sql as $$
  select string_agg(r.task || ' ' || r.failures || ' ' || r.sqlstate, ', ' order by r.member) from outbox.upkeep_refusal r
$$;
create function done() returns date language sql as $$ select p.done_on from outbox.cleanup_progress p where p.name = 'idempotency_keys' $$;

delete from outbox.cleanup_progress where true;
insert into outbox.cleanup_progress (name, piece_rows) values ('idempotency_keys', 4);
do $$ begin perform add('a', 'b', 'slow 1', 'c', 'd'); end $$;
set local client_min_messages = error;
set local statement_timeout = '1200ms';
select is(start(), 1, 'the piece with the row is cancelled');
select is(keys(), 'a b slow 1 c d', 'and undone');
select is(start(), 3, 'the next pieces have one row');
select is(keys(), 'slow 1 c d', 'those before it are deleted');
select is(refused(), 'outbox.forget_idempotency_keys 1 57014', 'then the row is known');
select is((select member from outbox.upkeep_refusal), (select 'the row ' || k.ctid || ' of outbox.idempotency_key' from outbox.idempotency_key k where k.key = 'slow 1'), 'by its ctid');
do $$ begin perform add('e', 'slow 2', 'f'); end $$;
select is(start(), 1, 'a second slow row cancels its piece too');
select is(refused(), 'outbox.forget_idempotency_keys 1 57014, outbox.forget_idempotency_keys 1 57014', 'and is known at once');
do $$ begin perform start(); end $$;
select is(keys(), 'slow 2 slow 1', 'all others are deleted');
select is(done(), '2026-03-01', 'the step is done for this day');
select alike(array_to_string(problems, '; '), '%the database refuses part of the periodic work (2) in outbox.forget_idempotency_keys()%', 'queue_health shows it') from outbox.queue_health;

select time_passes('20 h');
do $$ begin perform add('g'), start(); end $$;
select is(keys(), 'slow 2 slow 1', 'within a day the rows are left out');
select time_passes('4:30:00');
do $$ begin update outbox.cleanup_progress set done_on = null where name = 'idempotency_keys'; perform start(); end $$;
select is((select max(failures) from outbox.upkeep_refusal), 2, 'after a day one of them is tried again');
drop trigger sleeps on outbox.idempotency_key;
do $$ begin perform start(), time_passes('25 h'), start(); end $$;
select is(keys(), null, 'once the cause is removed, they are deleted');
select is(refused(), null, 'and nothing is left of the refusals');

-- If each row is slow, none of them is the cause.
do $$ begin
  delete from outbox.cleanup_progress where true;
  insert into outbox.cleanup_progress (name, piece_rows) values ('idempotency_keys', 8);
  insert into outbox.upkeep_refusal (task, member, failures, sqlstate, error, at, shown_until)
  values ('outbox.forget_idempotency_keys', 'an earlier row', 1, '57014', '', outbox.clock(), outbox.clock());
  perform add('h', 'i', 'j', 'k');
end $$;
create or replace function sleeps() returns trigger language plpgsql as $$
begin
  perform pg_sleep(1.2);
  return old;
end
$$;
create trigger sleeps before delete on outbox.idempotency_key for each row execute function sleeps();
-- In this time two rows are deleted, and nearly a third one.
set local statement_timeout = '3500ms';
do $$ begin perform start(); end $$;
select is((select string_agg(member, ', ') from outbox.upkeep_refusal), 'an earlier row', 'where the third row takes as long as those before it, it is not left out');
select is((select piece_rows from outbox.cleanup_progress where name = 'idempotency_keys'), 2, 'but the pieces become smaller');
do $$ begin perform start(); end $$;
do $$ begin perform start(); end $$;
select results_eq($$select member, keys() from outbox.upkeep_refusal$$, $$values ('an earlier row', 'j k')$$, 'until they fit, and none was left out');
drop trigger sleeps on outbox.idempotency_key;
create or replace function sleeps() returns trigger language plpgsql as $$
begin
  perform pg_sleep(60);
  return old;
end
$$;
delete from outbox.idempotency_key where true;
delete from outbox.upkeep_refusal where true;
set local statement_timeout = '1200ms';

-- An event of the sweep, whose next pieces do not look at the earlier events again.
drop function start();
delete from outbox.cleanup_progress where true;
create function start(p_pieces integer default 50) returns integer language plpgsql as $$
declare
  v_pieces integer := 0;
begin
  insert into outbox.cleanup_progress (name, done_on)
  select s.name, (outbox.clock() at time zone 'UTC')::date from outbox.cleanup_step s where s.name <> 'swept_events'
  on conflict (name) do update set done_on = excluded.done_on;
  while v_pieces < p_pieces and outbox.cleanup_next() loop
    v_pieces := v_pieces + 1;
  end loop;
  return v_pieces;
end
$$;
create function stored() returns text language sql as $$ select string_agg(v.type, ' ' order by v.id) from outbox.event v $$;
create trigger sleeps before delete on outbox.event for each row when (old.type = 'slow') execute function sleeps();
select time_is('2026-04-10 12:00:00+00');
-- The tick of pg_cron may hold a lock for 100 ms: then the rest is made by the next call.
do $$ begin
  for n in 1 .. 100 loop
    exit when outbox.add_partitions() -> 'late' = '[]';
  end loop;
end $$;
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7('2026-04-10 00:00+00'::timestamptz + n * interval '1 s'), 'default', t, '{}', '2026-04-10'
from unnest('{a,b,slow,c,d,open}'::text[]) with ordinality x (t, n);
-- The day has something open, so it is not dropped as a whole.
insert into outbox.unroutable (event_id, org_id, error, set_aside_at) select v.id, 'default', 'a test', outbox.clock() from outbox.event v where v.type = 'open';
insert into outbox.cleanup_progress (name, piece_rows) values ('swept_events', 4);
select time_is('2026-04-20 00:00:00+00');
select is(start(), 1, 'the piece with the event is cancelled');
select is(stored(), 'a b slow c d open', 'and undone');
do $$ begin perform start(); end $$;
select is(stored(), 'slow c d open', 'the next pieces have one event, and those before it are deleted');
select is(refused(), 'outbox.sweep_events 1 57014', 'then the event is known');
do $$ begin perform start(); end $$;
select is(stored(), 'slow open', 'it is left out, and those behind it are deleted');
select is((select p.done_on from outbox.cleanup_progress p where p.name = 'swept_events'), '2026-04-20', 'the sweep is done for this day');
select is(refused(), 'outbox.sweep_events 1 57014', 'and the event is known still');
delete from outbox.upkeep_refusal where true;

-- An ended subscription, which the tick removes.
create trigger sleeps before delete on outbox.ended_subscription for each row when (old.pattern like 'slow%') execute function sleeps();
insert into outbox.ended_subscription (org_id, pattern, endpoint_id, filter_weight, began_at, ended_at, open_below)
select 'o', p, '00000000-0000-7000-8000-000000000001', 0, '2020-01-01', '2020-01-02', '1' from unnest('{good.1,slow,good.2}'::text[]) p;
create function ticks() returns void language sql as $$
  select outbox.upkeep(outbox.clock(), 'infinity')
$$;
select time_is('2026-05-01 12:00:05+00');
do $$ begin perform ticks(); end $$;
select is((select member from outbox.upkeep_refusal), 'the whole step', 'a slow row cancels the step of the tick');
do $$ begin perform time_passes('10 s'), ticks(); end $$;
select is((select count(*) from outbox.upkeep_refusal where member like 'the row %'), 1::bigint, 'the next time it is known');
do $$ begin perform time_passes('10 s'), ticks(); end $$;
select is((select string_agg(pattern, ' ') from outbox.ended_subscription), 'slow', 'and left out');

select * from finish();
rollback;
