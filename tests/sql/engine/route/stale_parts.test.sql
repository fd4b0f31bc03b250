-- waiting_part may have parts of which nothing is left. They hide no event that waits behind them.
begin;
\ir ../../_helpers.sql
select plan(13);

select endpoint('{*}', p_org_id => o) from unnest('{a,b}'::text[]) o;
create function router() returns outbox.router language sql as $$ select * from outbox.router $$;
create function part(p_org_id text, p_back interval default '0') returns outbox.part language sql as $$
  select row(p_org_id, outbox.period_of(outbox.uuid_v7(outbox.clock() - p_back)))::outbox.part
$$;
create temporary table waiting as select outbox.publish('a', '{}', 'a') as id;
-- As after an event that failed three times: its part is left, and one of 10 s later has the event.
do $$ begin perform outbox.wait_for_turns(array[part('a', '10 s'), part('a')]); end $$;
update outbox.router set watermark = (select id from waiting);

select is(outbox.first_waiting('a'), id, 'first_waiting() passes over a part without events') from waiting;
select is(outbox.first_waiting('b'), null, 'an organisation without parts has none');
select is(outbox.next_unrouted(router()), array[id], 'a read that times out is a failure of this event') from waiting;
select is(outbox.oldest_waiting(), outbox.uuid_v7_time(id), 'its time is the oldest, so its subscriptions are kept') from waiting;

-- An organisation that has only such parts, and the one with the event after it.
delete from outbox.waiting_part where org_id = 'a';
do $$ begin perform outbox.wait_for_turns(array[part('a'), part('0'), part('1', '5 s'), part('1')]); end $$;
update outbox.router set batch = 1, last_org = '';
select is(outbox.route_all(outbox.clock(), 'infinity'), true, 'route_all() goes on after organisations without events');
select is((select count(*) from outbox.delivery d join waiting w on w.id = d.event_id), 1::bigint, 'the event behind them is routed');
select is_empty('select from outbox.waiting_part', 'all empty parts are removed');

-- A turn in which the database refuses a delivery.
update outbox.router set batch = 1000;
create temporary table refused as select outbox.publish('a', '{}', 'a') as id;
update outbox.router set watermark = (select id from refused);
do $$ begin perform outbox.wait_for_turns(array[part('a', '10 s'), part('a')]); end $$;
create function no_delivery() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
create trigger no_delivery before insert on outbox.delivery for each row execute function helper.no_delivery();
do $$ begin perform step(0); end $$;
select is((select count(*) from outbox.waiting_part b where b.period < outbox.period_of((select id from refused))), 0::bigint, 'the part before it leaves waiting_part, too');
drop trigger no_delivery on outbox.delivery;
delete from outbox.unrouted where true;
delete from outbox.waiting_part where true;
delete from outbox.unroutable where true;

-- Nine organisations with 8 endpoints each would fill each call, before the first event of one with 100.
select endpoint('{*}', p_org_id => 'narrow-' || n) from generate_series(1, 9) n, generate_series(1, 8);
select endpoint('{*}', p_org_id => 'wide') from generate_series(1, 100);
create function made(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id like p_org_id
$$;
do $$ begin
  perform outbox.publish('a', '{}', 'narrow-' || n) from generate_series(1, 9) n, generate_series(1, 100);
  perform outbox.publish('a', '{}', 'wide') from generate_series(1, 10);
  for v_call in 1..8 loop
    perform step(0);
  end loop;
end $$;
select cmp_ok((select count(*) from outbox.unrouted u where u.org_id like 'narrow%'), '>', 0::bigint, 'while the narrow ones have events that wait');
select cmp_ok(made('wide'), '>=', 100::bigint, 'the wide one gets its turn among nine');
select cmp_ok(made('narrow-%'), '>=', 2500::bigint, 'and they get theirs');
select cmp_ok((select max(n) - min(n) from (select made('narrow-' || n) as n from generate_series(1, 9) n) m), '<=', 200::bigint, 'all about alike');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
