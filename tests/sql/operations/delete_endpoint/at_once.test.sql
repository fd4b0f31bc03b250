-- Deleting is one row: from then on nothing is sent and everybody says cancelled, however much is open.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint() as id, endpoint() as other;
create temporary table event as select events(50) as ids;
select step(1);
create temporary table said as select outbox.delete_endpoint(id) as s from made;
select is(s, jsonb_build_object('id', id, 'status', 'deleted', 'was', 'enabled', 'reason', 'deleted', 'open', 50), 'it says what was and how much is open') from said, made;
select is((select count(*) from outbox.delivery join made on id = endpoint_id), 50::bigint, 'no delivery is touched');

select results_eq('select distinct status, held_because from outbox.delivery_status join made on id = endpoint_id', $$values ('cancelled', null)$$,
  'delivery_status says cancelled of all');
select is((select string_agg(distinct status, ',') from outbox.webhook_outbox join made on made.id = endpoint_id), 'CANCELLED', 'webhook_outbox says so');
select is((select string_agg(distinct status, ',') from outbox.saga_outbox join made on made.id = endpoint_id), 'CANCELLED', 'saga_outbox says so');
select is((select string_agg(distinct status, ',') from outbox.transaction_outbox join made on made.id = endpoint_id), 'cancelled', 'transaction_outbox says so');
select results_eq('select status, open from outbox.endpoint_status s join made m on m.id = s.id', $$values ('deleted', 50::bigint)$$,
  'endpoint_status says deleted, and what is still to be cancelled');
select is((select open from outbox.queue_health), 50::numeric, 'queue_health counts what the others have');
select is(claimed(step(), id), 0, 'nothing of it is claimed') from made;
select time_passes('1 h');
select is(claimed(step(), id), 0, 'nor later') from made;
select is((select g.next_at from outbox.gate g join made m on m.id = g.endpoint_id), 'infinity'::timestamptz, 'its gate has left the ring');

select is(refusal(format('select outbox.%s', c.call)), c.refusal, c.call)
from made, lateral (values
  (format('delete_endpoint(%L)', id), format($$OH002 endpoint '%s' does not exist$$, id)),
  (format('resume_endpoint(%L)', id), format($$OH002 endpoint '%s' does not exist$$, id)),
  (format('pause_endpoint(%L)', id), format($$OH002 endpoint '%s' does not exist$$, id)),
  (format('subscribe(%L, ''{order.*}'')', id), format($$OH002 endpoint '%s' does not exist$$, id)),
  (format('publish(''a'', ''{}'', p_endpoint_id => %L)', id), format('OH002 endpoint %s does not exist in organisation default', id)),
  (format('replay(%L, %L)', (select ids[1] from event), id), format($$OH002 endpoint '%s' does not exist$$, id)),
  (format('retry_now(%L, %L)', (select ids[2] from event), id), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, (select ids[2] from event), id)),
  (format('schedule_retry(%L, %L, ''1 min'')', (select ids[2] from event), id), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, (select ids[2] from event), id)),
  (format('cancel_delivery(%L, %L)', (select ids[2] from event), id), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, (select ids[2] from event), id))
) c (call, refusal);
select is((select count(*) from outbox.attempt a join made m on m.id = a.endpoint_id), 0::bigint, 'and none of them left an attempt');

select * from finish();
rollback;
