-- An event that nobody wants is recorded as such, and is there to be seen.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(16);

create temporary table made as select endpoint('{order.*}') as orders, endpoint('{refund.paid}', p_filter => '$.total > 100') as refunds;
create temporary table event (what text, id uuid);
insert into event values ('another type', (events(1, 'user.born'))[1]), ('another organisation', (events(1, 'order.paid', p_org_id => 'org-2'))[1]),
  ('a type that only begins so', (events(1, 'orders.paid'))[1]), ('the prefix itself', (events(1, 'order'))[1]),
  ('a filter that says no', (events(1, 'refund.paid', p_payload => '{"total": 5}'))[1]),
  ('wanted', (events(1, 'order.paid.late'))[1]);
select is(claimed_events(step()), array[id], 'what is wanted is sent') from event where what = 'wanted';
select results_eq(format('select kind, outcome, endpoint_id, attempt, at from outbox.attempt where event_id = %L', id),
  $$values ('close', 'no_subscriber', null::uuid, 0, '2026-03-01 12:00:00+00'::timestamptz)$$, what || ': recorded once')
from event where what <> 'wanted';
select is(status, 'no_subscriber', what || ': delivery_status says so') from event join outbox.delivery_status s on s.event_id = event.id where what <> 'wanted';
select is((select string_agg(distinct status, ',') from outbox.transaction_outbox t join event e on e.id = t.id where what <> 'wanted'), 'no_subscriber', 'for spec 4 it is not processed: nobody wanted it');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing stays unrouted');

-- A subscription that comes later does not reach back; one of that very moment does.
create temporary table late as select (events(1, 'late.event'))[1] as early, null::uuid as in_time;
select time_passes('1 ms');
select endpoint('{late.event}');
update late set in_time = (events(1, 'late.event'))[1] where true;
create temporary table answer as select step() as a;
select is(claimed_events(a), array[in_time], 'an event goes to subscriptions that are not younger than it') from answer, late;
select is((select outcome from outbox.attempt join late on early = event_id), 'no_subscriber', 'the earlier one had none') ;
select is((select count(*) from outbox.delivery_status join late on event_id = early), 1::bigint, 'and shows once');

select * from finish();
rollback;
