-- GET /events/{id}: the deliveries of an event, as long as a row of them is stored.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

create temporary table made as select endpoint(p_org_id => 'org-1') as a, endpoint(p_org_id => 'org-1') as b;
create temporary table event as select (events(1, p_org_id => 'org-1'))[1] as id;
create temporary table answer as select step() as a;
select step(0, results_of(answer.a, m.a, 'delivered', '{"status": 200}') || results_of(answer.a, m.b, 'failed', '{"status": 404, "error": "no such page"}')) from answer, made m;
create function deliveries() returns text language sql as $$
  select string_agg(format('%s %s', d ->> 'status', d ->> 'failedAttempts'), ', ' order by d ->> 'status')
  from event, jsonb_array_elements(outbox.get_event('org-1', id) -> 'deliveries') d
$$;
select is(deliveries(), 'dead_letter 1, delivered 0', 'both are shown');
-- As dropping the partition of attempts does.
delete from outbox.attempt where true;
select is(deliveries(), 'dead_letter 1', 'the dead letter is shown without its attempts');
select is(outbox.get_delivery('org-1', id, b) ->> 'status', 'dead_letter', 'by its id too') from event, made;
delete from outbox.event where true;
select is(outbox.get_delivery('org-1', id, b) - 'createdAt' - 'finishedAt' - 'id' - 'eventId' - 'endpointId',
  '{"eventType": "test.event", "status": "dead_letter", "reason": "no such page", "attempt": 1, "failedAttempts": 1, "nextAttemptAt": null}', 'and without its event')
from event, made;

select * from finish();
rollback;
