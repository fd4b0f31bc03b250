-- Whatever claims the delivery of a message, only one that waits or is being sent may be sent.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(6);

create temporary table made as select channel() as a, template() as code;
create temporary table m as select message_id(message()) as id;
select is(
  outbox.why_not_send(jsonb_populate_record(row_of(m.id), jsonb_build_object('status', w.status)), null, (row_of(m.id)).event_id, made.a, outbox.clock()),
  w.reason, format('a message that is %s is %s', w.status, case when w.reason is null then 'sent' else 'not sent again' end))
from m, made, (values ('QUEUED', null), ('SENDING', null), ('SENT', 'the message is SENT'), ('DELIVERED', 'the message is DELIVERED'),
  ('FAILED', 'the message is FAILED'), ('CANCELLED', 'the message is CANCELLED')) w (status, reason);

select * from finish();
rollback;
