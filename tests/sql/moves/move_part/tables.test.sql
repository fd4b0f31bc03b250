-- Modules: api, sagas, inbox, watch, brokers, messages
-- Each table with rows of organisations moves, stays, or prevents the move. A new one prevents it until somebody decides.
begin;
set local search_path = public, extensions;
select plan(3);

create temporary table org_table as
select c.relname::text as name
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;

select is(
  (select string_agg(t.name, ' ' order by t.name) from org_table t where t.name not in (select p.name from outbox.move_part p)),
  'activity consent deleted_channel inbound_message message_channel opt_out outbound_message person person_identifier reply_word saga_key template whatsapp_channel whatsapp_update',
  'these prevent it');
select is(
  (select string_agg(p.name, ' ' order by p.position) from outbox.move_part p where p.position is not null),
  'org_setting event_catalogue event_type endpoint event lane dead_letter idempotency_key', 'these move, in this order');
select is(
  (select string_agg(p.name, ' ' order by p.name) from outbox.move_part p where p.position is null and p.name not in (select t.name from org_table t)),
  null, 'the list names no other table');

select * from finish();
rollback;
