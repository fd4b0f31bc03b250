-- The reason of a caller is never one that Outhook reads: it would take the endpoint for one that moves here, or that a
-- job may resume.
begin;
\ir ../../_helpers.sql
set local search_path = helper, extensions;
select plan(29);

create temporary table made as select endpoint() as id;
create temporary table own (reason text);
insert into own values (outbox.arrival_reason('eu-1')), (outbox.arrival_reason('')), ('the organisation moves to eu-2'),
  ('the organisation moves here from eu-2'), ('unreadable: the signing secret'), ('held: by Meta'), ('held:');
select is(refusal(format('select outbox.%s(%L, %L)', f, id, reason)),
  format('OH001 reason starts with %L, which only Outhook writes', substring(reason, '^(the endpoint moves here from |the organisation moves |unreadable: |held:)')),
  f || ': ' || reason)
from made, own, unnest(array['pause_endpoint', 'disable_endpoint']) f;
select is((select status from outbox.endpoint), 'enabled', 'nothing has changed');
select is(refusal(format('select outbox.pause_endpoint(null, %L)', reason)) like 'OH001 reason %', true, 'before the endpoint is looked up')
from own limit 1;

select is(refusal(format('select outbox.%s(%L, %L)', f, id, reason)), 'accepted', format('%s: %L', f, reason))
from made, unnest(array['pause_endpoint', 'disable_endpoint']) f,
  unnest(array[null, '', 'the endpoint moves', ' the endpoint moves here from eu-1', 'The endpoint moves here from eu-1', 'held']) reason;

-- A deletion has no reason of the caller, so nobody writes that an endpoint has left this database.
select outbox.disable_endpoint(id, 'moved to eu-2') from made;
select outbox.delete_endpoint(id) from made;
select is((select status_reason from outbox.endpoint), 'deleted', 'a deletion replaces the reason');

select * from finish();
rollback;
