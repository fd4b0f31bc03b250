-- An open event keeps itself, not its day: the delivered events of the day go on time, row by row.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(30);

select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
create temporary table made as select endpoint('{done.*,both.*,again.*}') as a, endpoint('{open.*,both.*}') as p;
select outbox.pause_endpoint(p), outbox.set_setting('endpoint.disable_after_days', '365') from made;
create temporary table event as select unnest(events(5, 'done.x') || events(1, 'both.x') || events(1, 'open.x') || events(1, 'again.x')) as id;
select send();
create function kept() returns text language sql stable as $$
  select string_agg(v.type, ' ' order by v.type) from outbox.event v join event using (id)
$$;
create function part() returns oid language sql stable as $$ select to_regclass('outbox.event_p20200210')::oid $$;
create function night(p_to timestamptz) returns void language plpgsql as $$
begin
  while outbox.clock() < p_to loop
    perform helper.time_is(date_trunc('day', outbox.clock(), 'UTC') + interval '1 d'), outbox.add_partitions(), outbox.drop_partitions(), outbox.cleanup();
  end loop;
end
$$;
select night('2020-02-17 00:00:00+00');
select is(kept(), 'again.x both.x done.x done.x done.x done.x done.x open.x', 'within seven days all are there');
create temporary table was as select part() as part;
select time_is('2020-02-17 23:59:59+00');
-- The last moment at which what was delivered can be replayed.
select is(outbox.replay(id, a) ->> 'replaced', 'false', 'a replay') from made, outbox.event join event using (id) where type = 'again.x';
select time_is('2020-02-18 00:00:00+00');
select is(outbox.cleanup() -> 'swept_events', '8', 'then the sweep looks at all of the day');
select is(kept(), 'again.x both.x open.x', 'and leaves what is open');
select is(outbox.cleanup() -> 'swept_events', '3', 'by hand, it may look again');
select is(kept(), 'again.x both.x open.x', 'and does no more');
select is(part(), (select part from was), 'the day is the same table');
select is((select swept_to from outbox.cleanup_progress where name = 'swept_events'), null, 'nothing is left to continue');
-- What has gone is shown as long as its attempts are there.
select set_eq($$select s.status from outbox.delivery_status s join event on id = event_id left join outbox.event v using (id) where v.id is null$$, $$values ('delivered')$$,
  'a delivered event that is not stored any more is delivered still');

-- What is replayed or delivered late stays for seven full days after that.
select send();
select night('2020-02-25 00:00:00+00');
select is(kept(), 'again.x both.x open.x', 'a week after the replay it is there');
select night('2020-02-26 00:00:00+00');
select is(kept(), 'both.x open.x', 'a day later it has gone, and nothing else');
select time_is('2020-02-26 12:00:00+00');
select outbox.resume_endpoint(p) from made;
select is(send() + send(), 2, 'what was open is delivered');
select night('2020-03-04 00:00:00+00');
select is(kept(), 'both.x open.x', 'what was delivered late has its seven days');
select night('2020-03-05 00:00:00+00');
select is(kept(), null, 'after them all have gone');
select is(part(), null, 'and so has the day, as a whole');

-- Everything that an event waits for keeps it.
select time_is('2020-04-01 12:00:00+00'), outbox.add_partitions();
create temporary table waits as select unnest(events(5, 'open.y')) as id;
create temporary table reason as select id, (array['none', 'delivery', 'unrouted', 'unroutable', 'refusal'])[row_number() over (order by id)] as why from waits;
do $$ begin perform helper.step(0); end $$;
delete from outbox.delivery d using reason r where r.id = d.event_id and r.why <> 'delivery';
insert into outbox.unrouted (event_id, org_id) select id, 'default' from reason where why = 'unrouted';
insert into outbox.unroutable (event_id, org_id, error, set_aside_at) select id, 'default', 'a test', outbox.clock() from reason where why = 'unroutable';
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
select id, p, 'routing', 3, '23514', 'a test', outbox.clock(), 'infinity' from reason, made where why = 'refusal';
select time_is('2020-04-09 00:00:00+00'), outbox.cleanup();
select results_eq('select why from reason join outbox.event using (id) order by why', $$values ('delivery'), ('refusal'), ('unroutable'), ('unrouted')$$, 'an event that waits for anything is left');

-- The nightly job: in pieces, each day once a night, and on from where the last night ended.
delete from outbox.unrouted where true;
delete from outbox.unroutable where true;
delete from outbox.refusal where true;
delete from outbox.delivery where true;
create temporary table days as
select outbox.uuid_v7(d + n * interval '1 s') as id, (d at time zone 'UTC')::date as day from generate_series('2020-04-01 00:00+00'::timestamptz, '2020-04-03 00:00+00', '1 day') d, generate_series(1, 5) n;
delete from outbox.event where true;
insert into outbox.event (id, org_id, type, body, created_at) select id, 'default', 'a', '{}', '2020-04-01' from days;
-- The last event of the first and of the third day is open.
insert into outbox.unroutable (event_id, org_id, error, set_aside_at)
select max(id::text)::uuid, 'default', 'a test', outbox.clock() from days where day <> '2020-04-02' group by day;
update outbox.cleanup_step set most = 2 where name = 'swept_events';
create function pieces(p_most integer) returns text language plpgsql as $$
begin
  update outbox.cleanup_progress set done_on = (outbox.clock() at time zone 'UTC')::date where name <> 'swept_events';
  for n in 1 .. p_most loop
    exit when not outbox.cleanup_next();
  end loop;
  return (select string_agg(n::text, ' ' order by day) from (select day, count(v.id) as n from days left join outbox.event v using (id) group by day) c);
end
$$;
select time_is('2020-04-12 00:00:00+00');
do $$ begin while outbox.cleanup_next() loop end loop; end $$;
select is(pieces(0), '1 5 1', 'of days with something open, only that is left; the others are dropped as a whole');
insert into outbox.event (id, org_id, type, body, created_at) select id, 'default', 'a', '{}', '2020-04-01' from days where day <> '2020-04-02' on conflict do nothing;
select time_is('2020-04-13 00:00:00+00');
select is(pieces(1), '3 5 5', 'a piece looks at two events');
select is(pieces(2), '1 5 4', 'the last piece of a day begins the next day');
select is(pieces(0) || ' ' || (select swept_to = (select id from days where day = '2020-04-03' order by id limit 1) from outbox.cleanup_progress where name = 'swept_events'), '1 5 4 true',
  'cleanup_progress stores how far it is');
select time_is('2020-04-14 00:00:00+00');
select is(pieces(9), '1 5 1', 'the next night goes on there');
insert into outbox.event (id, org_id, type, body, created_at) select id, 'default', 'a', '{}', '2020-04-01' from days where day = '2020-04-01' on conflict do nothing;
select is(pieces(9), '5 5 1', 'and looks at no day twice');
select time_is('2020-04-15 00:00:00+00');
select is(pieces(9), '1 5 1', 'the night after that begins again');

-- One that the database refuses to delete stops no other.
create function refuse() returns trigger language plpgsql as $$ begin raise exception 'stays'; end $$;
create trigger refuse before delete on outbox.event for each row when (old.body = 'stays') execute function helper.refuse();
insert into outbox.event (id, org_id, type, body, created_at)
select id, 'default', 'a', case when id = (select min(id::text)::uuid from days) then 'stays' else '{}' end, '2020-04-01' from days where day = '2020-04-01' on conflict do nothing;
select time_is('2020-04-16 00:00:00+00');
create function refusals() returns bigint language sql as $$ select count(*) from outbox.upkeep_refusal where task = 'outbox.sweep_events' and error like '%stays%' $$;
select is(pieces(1) || ' ' || refusals(), '4 5 1 1', 'the first piece has a row that the database refuses to delete');
select time_passes('1 s');
select is(pieces(9), '2 5 1', 'it stays, and no other');
select is(refusals(), 1::bigint, 'queue_health shows it, although the last pieces did not try it again');
do $$ begin drop trigger refuse on outbox.event; perform time_is('2020-04-17 00:00:01+00'), pieces(9); end $$;
select is(refusals(), 0::bigint, 'once the cause is removed, nothing is left of it the next night');

-- A look at an event that is open reads no attempt, and each look is by an index.
delete from outbox.unroutable where true;
select time_is('2020-05-01 12:00:00+00'), outbox.add_partitions();
do $$ begin for n in 1 .. 4 loop perform helper.events(250, 'open.y'); end loop; perform helper.step(0); end $$;
select cmp_ok((select count(*) from outbox.delivery), '=', 1000::bigint, 'a thousand are open');
select time_is('2020-05-10 12:00:00+00');
create temporary table before as select * from counters();
do $$ begin perform outbox.sweep_events(outbox.clock(), 100); end $$;
create temporary table used as select relation, u.seq_scans - coalesce(b.seq_scans, 0) as scans, u.rows - coalesce(b.rows, 0) as rows from counters() u left join before b using (relation);
select is_empty($$select relation, scans from used where scans > 0 and relation in ('event', 'delivery', 'attempt', 'unrouted', 'unroutable', 'refusal')$$, 'a piece of 100 scans no table');
select is_empty($$select relation, rows from used where rows > case relation when 'event' then 210 when 'delivery' then 110 else 0 end
  and relation in ('event', 'delivery', 'attempt', 'unrouted', 'unroutable', 'refusal')$$, 'it reads 100 events and 100 deliveries, and stops at the first reason');

select * from finish();
rollback;
