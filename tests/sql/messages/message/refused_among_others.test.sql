-- A message that must not be sent leaves the rest of its batch whole.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(5);

create temporary table made as select channel() as a, template() as code;
create temporary table m as select n, message_id(message('+1202555010' || n)) as id from generate_series(1, 3) n;
select outbox.opt_out_recipient('default', '+12025550102', 'letter');
create temporary table claim as select step() as answer;
select is(claimed(answer), 2, 'two of three are claimed') from claim;
select results_eq('select n, (row_of(id)).status from m order by n', $$values (1, 'SENDING'), (2, 'FAILED'), (3, 'SENDING')$$, 'the one between them has failed');
select is_empty($$select d.value from claim, jsonb_array_elements(answer -> 'deliveries') d
  where d.value -> 'failed_attempts' is distinct from '0' or d.value -> 'ordered' is distinct from 'true' or (d.value ->> 'lane') is null or (d.value ->> 'lease_ms')::integer <> 25000$$,
  'each of the two has its lane, its attempts and its lease');
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.1"}')) from claim;
select is((select count(*) from outbox.outbound_message where status = 'SENT'), 2::bigint, 'and is sent');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
