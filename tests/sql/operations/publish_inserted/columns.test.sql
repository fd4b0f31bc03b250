-- A column that is inserted into a view means what it says, or the insert is refused by its name.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(35);

create temporary table made as select endpoint('{order.*}') as a, endpoint('{order.*}', p_retry => plain_retry(2)) as b;
create temporary table inserted (id uuid, correlation text, status text, retry_count integer, at timestamptz);

-- The inserts of the specs, with all columns that they name.
with i as (
  insert into outbox.webhook_outbox (event_type, payload, status, next_retry_at, retry_count)
  values ('order.spec_1', '{"b":1.10,  "s":"\u0000"}', 'PENDING', outbox.clock(), 0)
  returning id, null, status, retry_count, next_retry_at
)
insert into inserted select * from i;
with i as (
  insert into outbox.saga_outbox (saga_id, event_type, payload, status) values ('saga-7', 'order.spec_3', '{"n": 3}', 'PENDING')
  returning event_id, saga_id, status, retry_count, next_retry_at
)
insert into inserted select * from i;
with i as (
  insert into outbox.transaction_outbox (event_type, payload, partition_key, status, correlation_id, retry_count, max_retries, last_error, next_retry_at)
  values ('order.spec_4', '{"n": 4}', 'acc-1', 'pending', 'tx-1', 0, 6, '', '0001-01-01 00:00:00+00')
  returning id, correlation_id, status, retry_count, next_retry_at
)
insert into inserted select * from i;
select results_eq('select correlation, status, retry_count, at from inserted join outbox.event e using (id) order by e.type', $$values
  (null, 'PENDING', 0, '2026-03-01 12:00:00+00'::timestamptz), ('saga-7', 'PENDING', 0, '2026-03-01 12:00:00+00'), ('tx-1', 'pending', 0, '2026-03-01 12:00:00+00')$$,
  'each insert returns the row as it is');
select results_eq('select e.type, e.body, e.correlation_id, e.partition_key, e.deliver_at from inserted i join outbox.event e using (id) order by e.type', $$values
  ('order.spec_1', '{"b":1.10,  "s":"\u0000"}', null, null, null::timestamptz), ('order.spec_3', '{"n": 3}', 'saga-7', null, null), ('order.spec_4', '{"n": 4}', 'tx-1', 'acc-1', null)$$,
  'and is the event that it says, its payload to the byte; a time that has passed means at once');
select results_eq('select r.id, r.status, r.retry_count, r.next_retry_at from outbox.transaction_outbox r join inserted i using (id) order by id',
  $$select id, 'pending', 0, at from inserted order by id$$, 'transaction_outbox shows what the inserts returned');
create temporary table answer as select step() as a;
select is(claimed(a), 6, 'each goes to each subscribed endpoint') from answer;
select step(0, results(a, 'delivered')) from answer;

-- next_retry_at is the time of the first attempt.
select refusal(format('insert into outbox.%I (event_type, payload, next_retry_at) values (%L, %L, outbox.clock() + interval %L)', v, 'order.later', '{}', '1 hour'))
from unnest('{webhook_outbox,saga_outbox,transaction_outbox}'::text[]) v;
select is((select array_agg(distinct next_retry_at) from outbox.webhook_outbox where event_type = 'order.later'), '{2026-03-01 13:00:00+00}', 'the views show the time');
select is(claimed(step()), 0, 'before it nothing is sent');
select is((select array_agg(distinct next_retry_at) from outbox.webhook_outbox where event_type = 'order.later'), '{2026-03-01 13:00:00+00}', 'they show it after routing, too');
select time_passes('59 min 59 s');
select is(claimed(step()), 0, 'nor a second before it');
select time_passes('1 s');
select is(send(), 6, 'then all three are sent');

-- endpoint_id is the only endpoint.
select is(refusal(format('insert into outbox.%I (event_type, payload, endpoint_id) values (%L, %L, %L)', v, 'order.one', '{}', b)), 'accepted', v || ' takes an endpoint')
from unnest('{webhook_outbox,saga_outbox,transaction_outbox}'::text[]) v, made;
create temporary table of_one as select step() as a;
select is(array[claimed(o.a), claimed(o.a, m.b)], '{3,3}', 'no other endpoint gets them') from of_one o, made m;
select is(refusal($$insert into outbox.webhook_outbox (event_type, payload, endpoint_id) values ('order.one', '{}', '00000000-0000-7000-8000-000000000009')$$),
  'OH002 endpoint 00000000-0000-7000-8000-000000000009 does not exist in organisation default', 'an endpoint that is not there is refused');
select is(refusal(format('insert into outbox.transaction_outbox (event_type, payload, endpoint_id, max_retries) values (%L, %L, %L, 3)', 'order.one', '{}', b)), 'accepted', 'max_retries may be that of the endpoint') from made;
select is(refusal(format('insert into outbox.transaction_outbox (event_type, payload, endpoint_id, max_retries) values (%L, %L, %L, 6)', 'order.one', '{}', b)), 'OH001 max_retries is ''6''', 'and no other number') from made;

-- Any other column is refused by its name, whatever it is.
create temporary table refused as
select c.table_name as v, c.column_name as c, refusal(format('insert into outbox.%I (event_type, payload, %I) values (%L, %L, %L)', c.table_name, c.column_name, 'order.no', '{}',
  case c.udt_name when 'uuid' then '00000000-0000-7000-8000-000000000009' when 'timestamptz' then '2026-03-01 12:00:00+00' when 'int4' then '7' else 'DELIVERED' end)) as answer
from information_schema.columns c
where c.table_schema = 'outbox' and c.table_name in ('webhook_outbox', 'saga_outbox', 'transaction_outbox')
  and c.column_name not in ('event_type', 'payload', 'partition_key', 'correlation_id', 'saga_id', 'endpoint_id', 'next_retry_at');
select is_empty($$select v, c, answer from refused where not answer like 'OH001 ' || c || ' is ''%'$$, 'a column that Outhook sets is refused by its name');
select is((select count(*) from refused), 18::bigint, 'in each view');
select is(refusal($$insert into outbox.saga_outbox (event_type, payload, status) values ('a', '{}', 'pending')$$), 'OH001 status is ''pending''', 'a status of another view is refused');

-- What publish_raw() refuses is named by the column, too.
select is(refusal($$insert into outbox.saga_outbox (event_type, payload) values ('a b', '{}')$$), $$OH001 event_type is 'a b'$$, 'event_type is named');
select is(refusal($$insert into outbox.saga_outbox (event_type, payload, saga_id) values ('a', '{}', 'a b')$$), 'OH001 saga_id is not 1 to 128 visible ASCII characters', 'so is saga_id');
select is(refusal($$insert into outbox.transaction_outbox (event_type, payload, correlation_id) values ('a', '{}', 'a b')$$), 'OH001 correlation_id is not 1 to 128 visible ASCII characters', 'and correlation_id');
select is(refusal($$insert into outbox.webhook_outbox (event_type, payload, next_retry_at) values ('a', '{}', outbox.clock() + interval '31 days')$$),
  'OH001 next_retry_at lies beyond the retention of events', 'and next_retry_at');
select endpoint('{kept.order}', p_ordering => 'endpoint');
select is(refusal($$insert into outbox.webhook_outbox (event_type, payload, next_retry_at) values ('kept.order', '{}', outbox.clock() + interval '1 min')$$),
  'OH001 next_retry_at is given for a type that an ordered endpoint is subscribed to', 'also for an ordered endpoint');
select is(refusal($$insert into outbox.webhook_outbox (event_type, payload, next_retry_at) values ('kept.order', '{}', outbox.clock())$$), 'accepted', 'which takes one of now');
select is(refusal($$insert into outbox.transaction_outbox (event_type) values ('a')$$), 'OH001 payload is null', 'a payload is required');

-- Several rows are all or none, and a rollback takes them away.
select is(refusal($$insert into outbox.webhook_outbox (event_type, payload) values ('order.all', '{}'), ('order all', '{}')$$), $$OH001 event_type is 'order all'$$, 'one bad row refuses the statement');
select is((select count(*) from outbox.event where type like 'order.all'), 0::bigint, 'and nothing of it is published');
select is(refusal('select outbox.publish(''a b'', ''{}'')'), $$OH001 type is 'a b'$$, 'after a refused insert, publish() names its own argument');
insert into outbox.webhook_outbox (event_type, payload) select 'order.many', '{}' from generate_series(1, 3);
select is(refusal('select outbox.publish(''a b'', ''{}'')'), $$OH001 type is 'a b'$$, 'and after an accepted one');
select is((select count(distinct xmin::text) from outbox.event where type = 'order.many'), 1::bigint, 'rows of a statement have no subtransaction each');
select is(refusal($$insert into outbox.transaction_outbox (event_type, payload, last_error) values ('a', '{}', 'an error')$$), 'OH001 last_error is ''an error''', 'last_error may only be empty');
set local role service_role;
select lives_ok(format('insert into outbox.%I (event_type, payload) values (%L, %L)', v, 'order.role', '{}'), 'the service role inserts into ' || v)
from unnest('{webhook_outbox,saga_outbox,transaction_outbox}'::text[]) v;
reset role;

select * from finish();
rollback;
