-- Modules: api, brokers, messages
-- An event goes to the endpoints that were subscribed when it was published, with the filters of that time, whatever
-- changes before it is routed.
begin;
\ir ../../_helpers.sql
select plan(1 + 3 * 31 + 13);

-- Each case: an endpoint (type and filter), the change of it ($1 is its id), and what becomes of an event k.a with {"n": 1}
-- that is published before the change, of one at the time of the change, and of one after it. All three are routed at last.
create temporary table given (n integer generated always as identity, types text[], filter text, change text, before text, after text);
insert into given (types, filter, change, before, after) values
  -- The event types, over HTTP.
  ('{*}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.*"]}')$$, 'delivery', 'delivery'),
  ('{k.*}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.a"]}')$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["*"]}')$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["x"]}')$$, 'delivery', 'none'),
  ('{k.a,x}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["x"]}')$$, 'delivery', 'none'),
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": []}')$$, 'delivery', 'none'),
  ('{x}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.a"]}')$$, 'none', 'delivery'),
  ('{x}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["x", "*"]}')$$, 'none', 'delivery'),
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.a"]}')$$, 'delivery', 'delivery'),
  -- The filter, over HTTP.
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"filter": "$.n == 2"}')$$, 'delivery', 'none'),
  ('{k.a}', '$.n == 2', $$outbox.update_org_endpoint('org', $1, '{"filter": null}')$$, 'none', 'delivery'),
  ('{k.a}', '$.n == 1', $$outbox.update_org_endpoint('org', $1, '{"filter": "$.n == 2"}')$$, 'delivery', 'none'),
  ('{k.a}', '$.n == 2', $$outbox.update_org_endpoint('org', $1, '{"filter": "$.n == 1"}')$$, 'none', 'delivery'),
  ('{*}', '$.n == 1', $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.a"]}')$$, 'delivery', 'delivery'),
  ('{*}', '$.n == 1', $$outbox.update_org_endpoint('org', $1, '{"eventTypes": ["k.a"], "filter": "$.n == 2"}')$$, 'delivery', 'none'),
  -- In SQL.
  ('{x}', null, $$outbox.subscribe($1, '{k.*}')$$, 'none', 'delivery'),
  ('{k.a}', null, $$outbox.subscribe($1, '{k.a}')$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.subscribe($1, '{k.a}', '$.n == 2')$$, 'delivery', 'none'),
  ('{k.a}', '$.n == 2', $$outbox.subscribe($1, '{k.a}')$$, 'none', 'delivery'),
  ('{k.a}', '$.n == 1', $$outbox.subscribe($1, '{k.*}', '$.n == 2')$$, 'delivery', 'delivery'),
  ('{k.a}', '$.n == 2', $$outbox.subscribe($1, '{k.*}', '$.n == 1')$$, 'none', 'delivery'),
  ('{k.a}', '$.n == 1', $$outbox.subscribe($1, '{k.a}', '$.n == 2'), outbox.subscribe($1, '{k.a}', '$.n == 1')$$, 'delivery', 'delivery'),
  -- The status. A pause changes no subscription.
  ('{k.a}', null, $$outbox.pause_endpoint($1)$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.disable_endpoint($1)$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.resume_endpoint($1)$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.pause_org_endpoint('org', $1)$$, 'delivery', 'delivery'),
  ('{k.a}', null, $$outbox.delete_endpoint($1)$$, 'cancelled', 'none'),
  ('{k.a}', '$.n == 2', $$outbox.delete_org_endpoint('org', $1)$$, 'cancelled', 'none'),
  ('{x}', null, $$outbox.delete_endpoint($1)$$, 'none', 'none'),
  ('{k.a}', null, $$outbox.delete_endpoint($1), outbox.purge_deleted(10)$$, 'cancelled', 'none'),
  -- Other changes.
  ('{k.a}', null, $$outbox.update_org_endpoint('org', $1, '{"url": "https://example.com/2", "payload": "data"}')$$, 'delivery', 'delivery');
select is(count(*), 31::bigint, 'the number of cases') from given;
create temporary table made as select n, endpoint(types, p_org_id => 'org', p_filter => filter) as id from given;
select time_passes('1 s');
create temporary table event as select outbox.publish('k.a', '{"n": 1}', 'org') as before;
select time_passes('1 microsecond');
do $$ declare c record; begin
  for c in select g.change, m.id from given g join made m using (n) loop
    execute 'select ' || replace(c.change, '$1', quote_literal(c.id));
  end loop;
end $$;
alter table event add same uuid, add after uuid;
update event set same = outbox.publish('k.a', '{"n": 1}', 'org') where true;
select time_passes('1 microsecond');
update event set after = outbox.publish('k.a', '{"n": 1}', 'org') where true;
select is(step(0) -> 'error', 'null', 'all are routed in one batch');

create function became(p_event uuid, p_endpoint uuid) returns text language sql as $$
  select coalesce(
    (select 'delivery' from outbox.delivery d where d.event_id = p_event and d.endpoint_id = p_endpoint),
    (select a.outcome from outbox.attempt a where a.event_id = p_event and a.endpoint_id = p_endpoint), 'none')
$$;
select is(became(e.before, m.id), g.before, format('%s %s: before %s', g.types, g.filter, g.change)) from given g join made m using (n), event e order by n;
select is(became(e.same, m.id), g.after, format('%s %s: at the time of %s', g.types, g.filter, g.change)) from given g join made m using (n), event e order by n;
select is(became(e.after, m.id), g.after, format('%s %s: after %s', g.types, g.filter, g.change)) from given g join made m using (n), event e order by n;
select is_empty('select * from miscounts()', 'the counters are right');
select results_eq(
  $$select s.status, s.held_because from outbox.delivery_status s join event e on e.before = s.event_id join made m on m.id = s.endpoint_id where m.n = 27$$,
  $$values ('cancelled', 'the endpoint was deleted')$$, 'the status of a delivery to an endpoint that was deleted before the routing');

-- Several changes of one endpoint, with an event between any two.
create temporary table often as select endpoint('{k.a}', p_org_id => 'often') as id;
create temporary table sent (n integer, id uuid, due boolean);
do $$
begin
  for v_n in 1..6 loop
    perform time_passes('1 ms');
    insert into sent values (v_n, outbox.publish('k.a', '{"n": 1}', 'often'), v_n % 2 = 1);
    perform time_passes('1 ms');
    perform outbox.update_org_endpoint('often', id, case when v_n % 2 = 1 then '{"eventTypes": ["x"]}' else '{"eventTypes": ["k.*"]}' end::jsonb) from often;
  end loop;
end $$;
select step(0);
select results_eq('select n, exists (select from outbox.delivery d where d.event_id = sent.id) from sent order by n', 'select n, due from sent order by n',
  'each event goes by the subscription of its time');

-- Lists show what is subscribed now.
select is(outbox.get_org_endpoint('often', id) -> 'eventTypes', '["k.*"]', 'the API shows the current event types') from often;
select is(outbox.subscribe(id, '{y}') -> 'event_types', '["k.*", "y"]', 'so does subscribe()') from often;
select results_eq('select pattern from outbox.subscription s join often o on o.id = s.endpoint_id order by 1', $$values ('k.*'), ('y')$$, 'so does the table');

-- An event that is set aside is routed by the subscription of its time, however late.
create temporary table aside as select endpoint('{k.a}', p_org_id => 'aside') as id, null::uuid as event;
update aside set event = outbox.publish('k.a', '{}', 'aside') where true;
insert into outbox.unroutable (event_id, error, set_aside_at, org_id) select event, 'a test', outbox.clock(), 'aside' from aside;
delete from outbox.unrouted where true;
select time_passes('1 s');
do $$ begin perform outbox.update_org_endpoint('aside', id, '{"eventTypes": ["x"]}') from aside; end $$;
select time_passes('2 min');
select outbox.drop_ended_subscriptions(outbox.clock(), 100), outbox.drop_ended_subscriptions(outbox.clock(), 100);
select outbox.route_again(event) from aside;
select is(step(0) -> 'routed', '1', 'route_again() routes it to the endpoint that was subscribed');

-- The clock was set back: the change is not before the last one, and no time has two subscriptions.
create temporary table back as select endpoint('{k.a}', p_org_id => 'back') as id;
select time_passes('-1 h');
select outbox.subscribe(id, '{k.a}', '$.n == 2'), outbox.subscribe(id, '{k.a}', '$.n == 1') from back;
select is_empty('select from outbox.ended_subscription s join back b on b.id = s.endpoint_id', 'a subscription that lasted no time is not kept');
select time_passes('1 h');
select is((select created_at from outbox.subscription s join back b on b.id = s.endpoint_id), outbox.clock(), 'the last one began at the time of the first');

-- How much is kept is limited.
create temporary table busy as select endpoint('{k.a}') as id;
create function change_often(p_times integer) returns void language plpgsql as $$
begin
  for v_n in 1..p_times loop
    perform time_passes('1 ms');
    perform outbox.subscribe(id, '{k.a}', '$.n == ' || v_n) from busy;
  end loop;
end $$;
select lives_ok('select change_often(100)', '100 changes are kept');
select is(refusal('select change_often(1)'), format('OH004 the event types of endpoint %s were changed 100 times while older events wait to be routed', id), 'one more is refused') from busy;
select lives_ok(format('select outbox.delete_endpoint(%L)', id), 'a deletion is not') from busy;

select * from finish();
rollback;
