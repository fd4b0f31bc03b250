-- Calling off a delivery whose lost lease was the last that it may lose: it is not open any more.
begin;
\ir ../../_helpers.sql
select plan(4);
create temporary table made as select endpoint(p_retry => plain_retry(0)) as id;
create temporary table event as select events(1) as ids;
select step(1);
update outbox.delivery set lost_leases = 4 where leased_until is not null;
select time_passes('1 h');
select is(refusal(format('select outbox.cancel_delivery(%L, %L)', ids[1], id)), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, ids[1], id), 'there is nothing to call off') from event, made;
select step();
select is((select why from outbox.dead_letter join event on event_id = ids[1]), 'leases_lost', 'it has lost too many leases');
select is_empty('select from outbox.attempt where error = ''cancelled by hand''', 'and was not cancelled');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
