-- Modules: messages
-- A message that must not be sent now is taken out of what was claimed. What was left had lost all but its ids: the run
-- could not read it and ended, and the others stood as SENDING until their leases were over.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(4);
create temporary table made as select channel() as channel_id, template() as code;
create temporary table m as
select n, message_id(message('+1202555011' || n)) as id from generate_series(1, 3) n;
select outbox.opt_out_recipient('default', '+12025550112', 'test');

create temporary table answer as select step() as a;
select results_eq('select (row_of(id)).status from m order by n', $$values ('SENDING'), ('FAILED'), ('SENDING')$$,
  'of three messages one is refused by the claim');
select results_eq(
  $$select d ->> 'endpoint', d ->> 'attempt', d ->> 'failed_attempts', d ->> 'ordered', (d ->> 'lease_ms')::integer > 0
    from answer, jsonb_array_elements(a -> 'deliveries') d$$,
  $$select channel_id::text, '1', '0', 'true', true from made, generate_series(1, 2)$$, 'the other two are whole');
select results_eq($$select d ->> 'lane' from answer, jsonb_array_elements(a -> 'deliveries') d order by 1$$,
  $$select d.lane_id::text from outbox.delivery d order by 1$$, 'each with its own lane');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
