-- A run died with a message in hand, and a callback told what became of it before the lease was over.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(7);

create temporary table made as select channel() as a, template() as code;
create temporary table m as select 1 as n, message_id(message()) as id;
select time_passes('0.1 seconds');
insert into m select 2, message_id(message());
select is(claimed(step()), 1, 'the first is claimed, and its run dies');
select is(outbox.mark_sent_late(outbox.callback_data(id, 1), 'wamid.1'), 'adopted', 'a callback names it') from m where n = 1;
select is((row_of(id)).status, 'SENT', 'it is SENT') from m where n = 1;
select time_passes('25 seconds');
-- The lost lease is found here.
select is(claimed(step()) + claimed(step()), 1, 'when the lease is over the next to that person is sent, and not ten minutes later');
select results_eq('select n, (row_of(id)).status from m order by n', $$values (1, 'SENT'), (2, 'SENDING')$$, 'and the first is not sent again');
select results_eq('select kind, outcome from outbox.attempt t join outbox.outbound_message o on o.event_id = t.event_id, m where o.id = m.id and n = 1 order by kind',
  $$values ('attempt', 'failed'), ('close', 'cancelled')$$, 'its delivery is closed');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
