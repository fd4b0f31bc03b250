-- A flood of one organisation makes no other one wait: what a call does is bounded by the number of organisations that
-- wait, not by the number of their events.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(22);

select endpoint('{*}', p_org_id => o) from unnest('{flood,small,third}'::text[]) o;
create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = p_org_id
$$;
-- The events of a bulk load, in a second that is p_from after the start.
create function flood(p_org_id text, p_events integer, p_from interval default '0', p_xid xid8 default '3') returns void language sql as $$
  with made as (
    insert into outbox.event (id, org_id, type, body, created_at)
    select outbox.uuid_v7(at), p_org_id, 'a', '{}', at
    from (select outbox.clock() + p_from + n * interval '1 s' / p_events as at from generate_series(1, p_events) n) t
    returning id
  )
  -- As if another transaction had published them, which has ended.
  insert into outbox.unrouted (event_id, org_id, xid) select id, p_org_id, p_xid from made
$$;
create function calls_until(p_event_id uuid) returns integer language plpgsql as $$
declare
  v_calls integer := 0;
begin
  while exists (select from outbox.unrouted u where u.event_id = p_event_id) and v_calls < 20 loop
    perform step(0);
    v_calls := v_calls + 1;
  end loop;
  return v_calls;
end
$$;
create function late(p_org_id text, p_at timestamptz) returns uuid language sql as $$
  with made as (
    insert into outbox.event (id, org_id, type, body, created_at) values (outbox.uuid_v7(p_at), p_org_id, 'a', '{}', p_at)
    returning id
  )
  insert into outbox.unrouted (event_id, org_id) select id, p_org_id from made returning event_id
$$;

do $$ begin perform flood('flood', 50000), time_passes('1 s'); end $$;
create temporary table last_one as select outbox.publish('a', '{}', 'small') as id;
select is(calls_until(id), 1, 'an event behind 50,000 of another organisation is routed by the next call') from last_one;
select is(routed_of('flood'), 500::bigint, 'beside a share of the flood');
select cmp_ok((select count(*) from outbox.waiting_part where org_id = 'flood'), '<=', 6::bigint, 'which waits as a few rows');
select is_empty($$select from outbox.waiting_part where org_id = 'small'$$, 'an organisation that is done does not wait for a turn any more');
select ok(not outbox.has_new(r), 'all has been read') from outbox.router r;
do $$ begin perform step(0); end $$;
select is(routed_of('flood'), 600::bigint, 'shortly after another one it has a part of a batch');
do $$ begin perform time_passes('6 s'), step(0), step(0); end $$;
select is(routed_of('flood'), 2600::bigint, 'alone it has the whole batch in each call');
create temporary table next_one as select outbox.publish('a', '{}', 'small') as id;
select is(calls_until(id), 1, 'the next call has a new event') from next_one;

-- More of the flood in every call.
create temporary table waits (n integer);
do $$ begin
  for v_n in 1 .. 6 loop
    perform flood('flood', 2000), time_passes('1 s');
    insert into waits select calls_until(outbox.publish('a', '{}', 'small'));
  end loop;
end $$;
select is((select max(n) from waits), 1, 'also while the flood goes on');
select is((select waiting_turn from outbox.queue_health), 10000::bigint, 'queue_health counts at most 10,000 that wait');

-- Late events of all of them, below the watermark.
select cmp_ok(calls_until(late('small', outbox.clock() - interval '10 s')), '<=', 2, 'a late event of another organisation is routed at once');
create temporary table late_one as select late('flood', outbox.clock() - interval '1 minute') as id;
select cmp_ok(calls_until(id), '<=', 3, 'one of the flood comes before its later events') from late_one;
do $$ begin perform flood('flood', 5000, '-12 s', pg_current_xact_id()); end $$;
select cmp_ok(calls_until(late('small', outbox.clock() - interval '9 s')), '<=', 2, 'an event beside 5,000 late ones of another organisation does not wait for them');

-- Order: each organisation's events, also of the flood, are routed in the order of their ids.
delete from outbox.unrouted where true;
do $$ begin perform step(0), step(0); end $$;
select ok(not outbox.has_unrouted(), 'parts without events are removed');
do $$ begin perform time_passes('1 s'), flood('flood', 3000), time_passes('1 s'), flood('third', 2500), time_passes('1 s'); end $$;
create temporary table seen (step integer, org_id text, lowest text, highest text);
do $$ begin
  for v_step in 1 .. 60 loop
    create temporary table before on commit drop as select event_id from outbox.unrouted;
    perform step(0);
    insert into seen select v_step, e.org_id, min(b.event_id::text), max(b.event_id::text)
    from before b join outbox.event e on e.id = b.event_id
    where not exists (select from outbox.unrouted u where u.event_id = b.event_id) group by e.org_id;
    drop table before;
    perform time_passes('10 ms');
    perform events(20, p_org_id => 'flood');
    exit when not exists (select from outbox.unrouted u where u.org_id = 'third');
  end loop;
end $$;
select is_empty($$select from seen a join seen b on a.org_id = b.org_id and a.step < b.step where a.highest > b.lowest$$, 'no call routes an event before an earlier one of its organisation');
select cmp_ok((select count(distinct org_id) from seen where step = 1), '=', 2::bigint, 'the first call has events of both');
select cmp_ok((select max(step) from seen), '<=', 50, 'and none waits for the end of the other');

-- A shrunk batch: one event a call, still in turns.
do $$ begin while outbox.has_unrouted() loop perform step(0), time_passes('10 ms'); end loop; end $$;
do $$ begin perform outbox.set_setting('route.batch_size', '1'); end $$;
update outbox.router set batch = 1 where true;
do $$ begin perform flood('flood', 30), time_passes('1 s'); end $$;
create temporary table slow_one as select outbox.publish('a', '{}', 'small') as id;
select cmp_ok(calls_until(id), '<=', 3, 'a batch of one event takes turns too') from slow_one;
create temporary table guess as select outbox.next_unrouted(r) as events from outbox.router r;
select is((outbox.read_unrouted()).events, events, 'next_unrouted() is what a batch of one reads') from guess;
do $$ begin perform step(0); end $$;
update guess set events = (select outbox.next_unrouted(r) from outbox.router r) where true;
select is((outbox.read_unrouted()).events, events, 'in the other kind of call too') from guess;
do $$ begin while outbox.has_unrouted() loop perform step(0), time_passes('10 ms'); end loop; end $$;
select is((select count(*) from outbox.unrouted), 0::bigint, 'all is routed in the end');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
