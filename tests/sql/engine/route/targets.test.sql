-- Which endpoints an event goes to.
begin;
\ir ../../_helpers.sql
select plan(30);

create temporary table wanted as
select c.patterns, endpoint(c.patterns) as id
from (values ('{*}'::text[]), ('{order.*}'), ('{order.paid}'), ('{order.paid.*}'), ('{orders.*}'), ('{order}'), ('{}')) c (patterns);

create function routed(p_type text) returns text[] language plpgsql as $$
declare
  v_event uuid := outbox.publish(p_type, '{}');
begin
  perform step(0);
  return array(select w.patterns::text from outbox.delivery d join wanted w on w.id = d.endpoint_id where d.event_id = v_event order by 1);
end
$$;
select is(routed(c.type), c.patterns, c.type || ' goes to those who want it')
from (values
  ('order', '{"{*}","{order}"}'::text[]),
  ('order.paid', '{"{*}","{order.*}","{order.paid}"}'),
  ('order.paid.twice', '{"{*}","{order.*}","{order.paid.*}"}'),
  ('orders.paid', '{"{*}","{orders.*}"}'),
  ('Order.paid', '{"{*}"}'),
  ('order-x.paid', '{"{*}"}'),
  ('other', '{"{*}"}')
) c (type, patterns);
select is_empty('select * from miscounts()', 'routing counts right');
select is_empty('select * from asleep()', 'routing leaves nothing asleep');

-- Once per endpoint, however many of its subscriptions match.
create temporary table many as select endpoint('{*,a.*,a.b.*,a.b.c}', p_org_id => 'many') as id;
create temporary table one as select outbox.publish('a.b.c', '{}', 'many') as id;
select is(step(0) -> 'routed', '1', 'an event goes to an endpoint once, however many of its subscriptions match');
select is((select count(*)::integer from outbox.delivery d join one on one.id = d.event_id), 1, 'there is one delivery of it');

-- Organisations.
create temporary table others as select outbox.publish('a.b.c', '{}', 'nobody') as id;
select is(step(0) -> 'routed', '0', 'an event goes to no other organisation''s endpoint');
select is((select to_jsonb(a) @> '{"endpoint_id": null, "attempt": 0, "kind": "close", "outcome": "no_subscriber",
             "at": "2026-03-01T12:00:00+00:00"}' from outbox.attempt a join others o on o.id = a.event_id), true,
  'an event that nobody wants gets a closing row');
select is_empty('select from outbox.unrouted', 'an event that nobody wants is finished with');
select is((select status from outbox.delivery_status s join others o on o.id = s.event_id), 'no_subscriber',
  'delivery_status shows an event that nobody wanted');

-- Subscriptions that are younger than the event.
select endpoint('{mine}', p_org_id => 'young');
create temporary table before as select outbox.publish('early', '{}', 'young') as early, outbox.publish('mine', '{}', 'young') as mine;
select time_passes('1 microsecond');
create temporary table young as select endpoint('{early}', p_org_id => 'young') as id;
select is(step(0) -> 'routed', '1', 'an event does not go to a subscription that is younger');
select is((select outcome from outbox.attempt a join before b on b.early = a.event_id), 'no_subscriber', 'not even when it is the only one');
select outbox.publish('early', '{}', 'young');
select is(step(0) -> 'routed', '1', 'an event goes to a subscription of the same moment');
select outbox.subscribe(id, '{late}') from young;
create temporary table late as select outbox.publish('late', '{}', 'young') as id;
select is(step(0) -> 'routed', '1', 'an event goes to a subscription that came later to an endpoint that was there');

-- Addressed events.
create temporary table addressed as
select endpoint('{}', p_org_id => 'to') as id, endpoint('{*}', p_org_id => 'to') as all_of_it;
create temporary table letter as select outbox.publish('a', '{}', 'to', p_endpoint_id => id) as id from addressed;
select is(step(0) -> 'routed', '1', 'an addressed event makes one delivery');
select is((select d.endpoint_id from outbox.delivery d join letter l on l.id = d.event_id), (select id from addressed),
  'an addressed event goes to its endpoint without a subscription, and to no subscriber');
create temporary table lost as select outbox.publish('a', '{}', 'to', p_endpoint_id => id) as id from addressed;
do $$ begin perform outbox.delete_endpoint(id) from addressed; end $$;
select is(step(0) -> 'routed', '0', 'an addressed event goes nowhere when its endpoint was deleted meanwhile');
select is((select a.outcome || ' ' || (a.endpoint_id = d.id) from outbox.attempt a join lost l on l.id = a.event_id, addressed d), 'cancelled true', 'but has a closing row of this endpoint');

-- What a delivery is made of.
create temporary table body as select endpoint('{size}', p_org_id => 'size') as endpoint_id,
  outbox.publish_raw('size', '"äöü"', 'size') as plain, outbox.publish('size', '{}', 'size', p_deliver_at => '2026-03-05 00:00:00+00') as later;
select step(0);
select results_eq('select body_bytes, due_at, attempt, failed_attempts, leased_until from outbox.delivery d join body b on b.plain = d.event_id',
  $$values (8, outbox.clock(), 0, 0, null::timestamptz)$$, 'a delivery is due at once, and knows the bytes of its body');
select is((select d.due_at from outbox.delivery d join body b on b.later = d.event_id), '2026-03-05 00:00:00+00'::timestamptz,
  'a delivery of an event for later is due then');

-- An unrouted row whose event is gone.
insert into outbox.unrouted (event_id, org_id) values ('ffffffff-0000-7000-8000-000000000000', 'default');
select is(step(0) -> 'error', 'null', 'an unrouted row whose event is gone stops nothing');
select is_empty('select from outbox.unrouted', 'an unrouted row whose event is gone is finished with');

-- A pair that is open already.
create temporary table again as select outbox.publish('order', '{}') as id;
select step(0);
insert into outbox.unrouted (event_id, org_id) select id, 'default' from again;
select is(step(0) -> 'routed', '0', 'an event routed twice makes no second delivery while the first is open');
select is_empty('select * from miscounts()', 'and does not count it twice');
select is_empty('select * from asleep()', 'nothing is left asleep');

select * from finish();
rollback;
