-- An organisation that has more to route than its share of a call waits for its turn, and no other organisation waits
-- for it. Work is counted in calls, never in time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(34);

create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = p_org_id
$$;
create function unrouted_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.unrouted u join outbox.event e on e.id = u.event_id where e.org_id = p_org_id
$$;
-- How many calls it takes until an organisation has nothing unrouted.
create function calls_for(p_org_id text) returns integer language plpgsql as $$
declare
  v_calls integer := 0;
begin
  while unrouted_of(p_org_id) > 0 and v_calls < 200 loop
    perform step(0);
    v_calls := v_calls + 1;
  end loop;
  return v_calls;
end
$$;

-- Filters. Each question of "heavy" is 6,001 values times 16 steps, which is a third of a call's.
select endpoint('{*}', p_org_id => 'heavy', p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)') from generate_series(1, 2);
select endpoint('{*}', p_org_id => o) from unnest('{light,other}'::text[]) o;
create temporary table heavy (n integer, id uuid);
do $$ begin
  for v_n in 1..9 loop
    perform time_passes('1 ms');
    insert into heavy values (v_n, outbox.publish_raw('a', '[' || repeat('1234567,', 6000) || '16]', 'heavy'));
  end loop;
  perform time_passes('1 ms');
end $$;
select events(5, p_org_id => 'light');
select step(0);
select results_eq('select routed_of(''heavy''), routed_of(''light'')', 'values (1::bigint, 5::bigint)', 'the first call has the share of the first organisation and all events of the other');
select is((select count(*) from outbox.unrouted u where u.org_id = 'heavy'), 9::bigint, 'its events wait for its turn');
select is((select u.routed_to is not null from outbox.unrouted u join heavy h on h.id = u.event_id where h.n = 1), true, 'the first one behind the endpoint that has been evaluated');
select is(calls_for('light'), 0, 'the other organisation does not wait for a call');
select is((select waiting_turn from outbox.queue_health), unrouted_of('heavy'), 'queue_health shows how many events wait for a turn');
select is((select unrouted from outbox.queue_health), unrouted_of('heavy'), 'they are unrouted');
select is((select oldest_unrouted_at from outbox.queue_health), (select min(outbox.uuid_v7_time(u.event_id)) from outbox.unrouted u join outbox.event e on e.id = u.event_id), 'and so old');
select is((outbox.event_metrics() ->> 'unrouted')::bigint, unrouted_of('heavy'), 'the metrics count them');
-- Whatever comes meanwhile waits for two calls at most.
create temporary table waits (n integer);
create temporary table first_left (n integer);
do $$ begin
  while unrouted_of('heavy') > 0 loop
    insert into first_left select min(h.n) from heavy h join outbox.unrouted u on u.event_id = h.id;
    if exists (
      select from heavy h join outbox.delivery d on d.event_id = h.id
      where h.n > (select max(n) from first_left))
    then
      insert into first_left values (-1);
    end if;
    perform events(1, p_org_id => 'other');
    insert into waits values (calls_for('other'));
  end loop;
end $$;
select is((select max(n) from waits), 1, 'the next call has an event of another organisation');
select cmp_ok((select count(*) from waits), '>=', 8::bigint, 'as long as events wait for a turn');
select is(routed_of('heavy'), 18::bigint, 'and all of the first organisation is routed');
select is_empty('select from first_left where n = -1', 'none of its events before an earlier one');

select is((select waiting_turn from outbox.queue_health), 0::bigint, 'nothing waits for a turn in the end');
select events(1, p_org_id => 'heavy', p_payload => '[16]');
select is(calls_for('heavy'), 1, 'then the organisation is read as before');

-- Endpoints: 500 of one organisation get each of its 40 events.
insert into outbox.endpoint (org_id, url, created_at, updated_at) select 'wide', 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, 500) n;
insert into outbox.subscription (org_id, pattern, endpoint_id, created_at) select 'wide', '*', e.id, e.created_at from outbox.endpoint e where e.org_id = 'wide';
do $$ begin perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e where e.org_id = 'wide'; end $$;
select events(40, p_org_id => 'wide'), events(30, p_org_id => 'light');
select is(calls_for('light'), 1, '30 events with one endpoint each are routed beside the first event with 500');
select cmp_ok(routed_of('wide'), '>', 0::bigint, 'which has a part of the call');
select events(1, p_org_id => 'light');
select is(calls_for('light'), 1, 'the next call has a later event');
select cmp_ok(routed_of('wide'), '<=', 4000::bigint, 'of 2,000 pairs each');
create temporary table wide as select routed_of('wide') as n;
do $$ begin
  for v_n in 1 .. 5 loop
    perform events(1, p_org_id => 'light'), step(0);
  end loop;
end $$;
select is(routed_of('wide') - n, 249::bigint, 'of which the wide one has 249 in one of five while another one waits') from wide;
select time_passes('6 s');
select cmp_ok(calls_for('wide'), '<=', 20, 'the wide one goes on when nothing else waits');
select is(routed_of('wide'), 20000::bigint, 'to all its endpoints, once');

-- A batch of one organisation that is not full: nobody else can wait, so there is no turn.
select events(9, p_org_id => 'wide');
do $$ begin perform step(0); end $$;
select results_eq('select distinct org_id from outbox.waiting_part', $$values ('wide')$$, 'what a call leaves of an organisation waits for its turn');
select is(calls_for('wide'), 2, 'it takes 2,000 pairs in each call');
-- A full one: others may be behind it.
select events(1000, p_org_id => 'wide'), events(2, p_org_id => 'light');
select cmp_ok(calls_for('light'), '<=', 4, 'behind a full batch of another organisation an event waits for few calls');
select cmp_ok(unrouted_of('wide'), '>', 900::bigint, 'although that one has much left');

-- Several organisations with turns: one after the other.
delete from outbox.unrouted where true;
select endpoint('{*}', p_org_id => o, p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)') from unnest('{heavy-2,heavy-3}'::text[]) o, generate_series(1, 2);
select outbox.publish_raw('a', '[' || repeat('1234567,', 6000) || '16]', o) from generate_series(1, 4), unnest('{heavy,heavy-2,heavy-3}'::text[]) o;
create temporary table turns (n integer generated always as identity, org text);
do $$ begin
  for v_call in 1..200 loop
    exit when not exists (select from outbox.unrouted);
    perform step(0);
    insert into turns (org) select r.last_org from outbox.router r where (select count(distinct u.org_id) from outbox.unrouted u) = 3;
  end loop;
end $$;
select is((select count(*) from outbox.unrouted), 0::bigint, 'all is routed');
select is((select count(distinct org) from turns where org like 'heavy%'), 3::bigint, 'each of the three had turns while all three waited');
select is_empty('select * from miscounts()', 'the counters are right');

-- An event that fails in a turn neither stops the turns of others nor the new events.
create function no_delivery() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
select outbox.publish_raw('a', '[' || repeat('1234567,', 6000) || '16]', 'heavy') from generate_series(1, 5);
select events(1, p_org_id => 'light');
do $$ begin perform step(0), step(0); end $$;
create temporary table poison as select u.event_id as id from outbox.unrouted u where u.org_id = 'heavy' order by 1 offset 1 limit 1;
select is((select count(*) from poison), 1::bigint, 'the second one waits');
do $$ begin execute format('create trigger no_delivery before insert on outbox.delivery for each row when (new.event_id = %L) execute function helper.no_delivery()', (select id from poison)); end $$;
select events(1, p_org_id => 'light');
select cmp_ok(calls_for('light'), '<=', 2, 'a new event of another organisation is routed');
select cmp_ok(calls_for('heavy'), '<=', 20, 'and the others of its own');
select is((select u.event_id from outbox.unroutable u), (select id from poison), 'the failing one is set aside');
select results_eq('select u.org_id, u.error from outbox.unroutable u', $$values ('heavy', 'refused')$$, 'with its organisation and the reason');
select is_empty('select * from miscounts()', 'the counters are right in the end');

select * from finish();
rollback;
