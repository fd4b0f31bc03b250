-- A day of events goes when nothing of it was open on eight nights running; a replay starts the count anew.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select send();
select time_is('2020-02-11 00:00:00+00');
create function nights() returns integer language sql stable as $$ select clean_nights from outbox.partition_check where name = 'event_p20200210' $$;
create function is_there() returns boolean language sql stable as $$ select to_regclass('outbox.event_p20200210') is not null $$;
create function night(p_n integer default 1) returns void language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform outbox.cleanup(), outbox.drop_partitions();
    perform time_passes('1 d');
  end loop;
end
$$;
select night();
select is(nights(), 1, 'the first clean night');
select is(nights(), 1, 'today''s own day is not counted') where exists (select from outbox.partition_check where name = 'event_p20200211');
select time_passes('-1 d'), outbox.cleanup(), outbox.cleanup(), outbox.drop_partitions(), time_passes('1 d');
select is(nights(), 1, 'a night counts once, however often drop_partitions() runs');
select night(6);
select is(nights(), 7, 'after seven it is still there');
select is((select count(*) from outbox.event join event using (id)), 1::bigint, 'with its event');
select is(outbox.replay(e.id, m.id) -> 'replaced', 'false', 'which can be replayed for seven full days') from event e, made m;
select is(nights(), 0, 'a replay starts the count anew');
select night();
select is(nights(), 0, 'a night with something open does not count');
select send();
select night(7);
select is(nights(), 7, 'then there are seven again');
select is(is_there(), true, 'and it is there');
select night();
select is(is_there(), false, 'after the eighth it is gone');
select is(nights(), null, 'and so is its count');
select is((select count(*) from outbox.event join event using (id)), 0::bigint, 'the event with it');
select is((select count(*) from outbox.attempt a join event e on e.id = a.event_id where a.outcome = 'delivered'), 1::bigint, 'its younger attempt stays as long as attempts are kept');
select is(refusal(format('select outbox.replay(%L, %L)', e.id, m.id)), format($$OH002 event '%s' has no delivery and no dead letter for endpoint %s$$, e.id, m.id), 'it can no longer be replayed') from event e, made m;

-- Open, unrouted and set aside hold their day; a dead letter holds none, being whole.
select time_is('2020-04-01 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
create temporary table day as select '2020-04-01'::date + n::integer as day, what, null::uuid as event from unnest(array['open', 'unrouted', 'set aside', 'dead', 'empty']) with ordinality x (what, n);
create temporary table paused as select endpoint('{open.event,aside.event}') as id, endpoint('{dead.event}') as dead;
select outbox.pause_endpoint(id) from paused;
create function publish_on(p_what text, p_type text) returns void language plpgsql as $$
begin
  perform time_is(d.day + time '12:00' at time zone 'UTC') from day d where d.what = p_what;
  update day set event = (events(1, p_type))[1] where what = p_what;
  perform fail(404);
end
$$;
select outbox.delete_endpoint(id) from made;
select publish_on('open', 'open.event'), publish_on('unrouted', 'nobody.wants'), publish_on('set aside', 'aside.event'), publish_on('dead', 'dead.event'), step(0);
delete from outbox.delivery d using day where d.event_id = day.event and day.what = 'set aside';
-- The events that announced the dead letters have been routed, so that they hold no day.
insert into outbox.unroutable (event_id, org_id, error, set_aside_at) select event, 'default', 'a test', outbox.clock() from day where what = 'set aside';
insert into outbox.unrouted (event_id, org_id) select event, 'default' from day where what = 'unrouted' on conflict do nothing;
create function there(p_what text) returns boolean language sql stable as $$
  select to_regclass('outbox.event_p' || to_char(day, 'YYYYMMDD')) is not null from day where what = p_what
$$;
select time_is('2020-04-07 00:00:00+00');
select night(8);
select is(there(what), what not in ('dead', 'empty'), format('a day whose event is %s %s', what, case when what in ('dead', 'empty') then 'goes' else 'stays' end)) from day order by day;
select is((select original_message from outbox.dead_letter x join day on x.event_id = day.event where what = 'dead'), '{}', 'the dead letter is there without its event');
select is(outbox.replay(event, dead) -> 'replaced', 'false', 'and can be replayed') from day, paused where what = 'dead';
-- 38 days after its day it goes whatever is open: what was open has expired before.
select time_is('2020-05-11 00:00:00+00'), night(2);
select is(there('unrouted'), true, 'what nobody has looked at holds its day');
select is(there('open'), true, 'what is open too');
delete from outbox.unrouted u using day where u.event_id = day.event;
delete from outbox.unroutable u using day where u.event_id = day.event;
select is((select count(*) from outbox.delivery d join day on d.event_id = day.event where what = 'open'), 1::bigint, 'it is open still, until the tick expires it');
select outbox.tick();
select is((select why from outbox.dead_letter x join day on x.event_id = day.event where what = 'open'), 'expired', 'then it is a dead letter');
select night();
select is(array[there('open'), there('unrouted'), there('set aside')], '{false,false,false}', 'and the days go at once, being over 38 days old');

select * from finish();
rollback;
