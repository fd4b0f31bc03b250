-- A user or a holder of a portal token gives the reason of a pause, and cannot make the endpoint one that moves.
begin;
\ir ../../_helpers.sql
set local search_path = helper, extensions;
select plan(6);

create temporary table made as select endpoint(p_org_id => 'org-1') as id;
select is(refusal(format('select outbox.pause_org_endpoint(%L, %L, %L)', 'org-1', id, reason)), 'OH001 reason starts with ''' || start || ''', which only Outhook writes', reason)
from made, (values ('the endpoint moves here from eu-1', 'the endpoint moves here from '), ('the organisation moves to eu-2', 'the organisation moves '),
  ('unreadable: no', 'unreadable: '), ('held: no', 'held:')) r (reason, start);
select is((select status from outbox.endpoint), 'enabled', 'nothing has changed');
select outbox.pause_org_endpoint('org-1', id, 'a pause') from made;
select outbox.delete_org_endpoint('org-1', id) from made;
select is((select status_reason from outbox.endpoint), 'deleted', 'a deletion has no reason of the caller');

select * from finish();
rollback;
