-- Spec 1's way in: an insert into webhook_outbox publishes.
begin;
\ir ../../_helpers.sql
select plan(7);

create temporary table inserted (id uuid, status text, retry_count integer);
with i as (
  insert into outbox.webhook_outbox (event_type, payload) values ('order.paid', '{"b":1.10,  "a":2}')
  returning id, status, retry_count
)
insert into inserted select * from i;

select is((select e.body from inserted i join outbox.event e using (id)), '{"b":1.10,  "a":2}',
  'webhook_outbox keeps the payload as it was written');
select results_eq('select status, retry_count from inserted', $$values ('PENDING', 0)$$,
  'webhook_outbox returns the first state of the row');
select results_eq('select id, event_type, payload::text, status, retry_count from outbox.webhook_outbox',
  $$select id, 'order.paid', '{"b":1.10,  "a":2}', 'PENDING', 0 from inserted$$,
  'webhook_outbox shows the row before it is routed');

select is(refusal($$insert into outbox.webhook_outbox (event_type, payload) values ('a b', '{}')$$),
  $$OH001 event_type is 'a b'$$, 'webhook_outbox refuses what publish_raw() refuses');
select is(refusal($$insert into outbox.webhook_outbox (event_type) values ('a')$$),
  'OH001 payload is null', 'webhook_outbox refuses a row without a payload');

select endpoint();
create temporary table answer as select step() as a;
select is((select status from outbox.webhook_outbox), 'PROCESSING', 'webhook_outbox shows what a run holds');
select step(p_results => results(a, 'delivered', '{"status": 200}')) from answer;
select results_eq('select status, delivered_at, retry_count from outbox.webhook_outbox',
  $$values ('DELIVERED', '2026-03-01 12:00:00+00'::timestamptz, 0)$$, 'webhook_outbox shows what was delivered');

select * from finish();
rollback;
