-- Events do not go to a deleted endpoint: not what is published later, nor what was not routed yet.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create temporary table made as select endpoint() as id, endpoint() as other;
create temporary table event as select (events(1))[1] as shared, (events(1, p_endpoint_id => id))[1] as addressed from made;
select outbox.delete_endpoint(id) from made;
insert into event select (events(1))[1], null;
create temporary table answer as select step() as a;
select is(claimed(a, id), 0, 'nothing goes to it') from made, answer;
select is(claimed(a, other), 2, 'the other endpoint gets what is for all') from made, answer;
select results_eq('select event_id, endpoint_id, outcome from outbox.attempt', 'select addressed, id, ''cancelled'' from event, made where addressed is not null',
  'an event that was for it alone is recorded as cancelled');
select is((select count(*) from outbox.delivery join made on id = endpoint_id), 0::bigint, 'no delivery is made');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing stays unrouted');

-- Dead letters outlive their endpoint, and are not replayed to it.
create temporary table late as select endpoint('{late.event}') as id;
create temporary table letter as select (events(1, 'late.event'))[1] as event;
select fail(404);
select outbox.delete_endpoint(id) from late;
select outbox.tick();
select outbox.replay_many(p_endpoint_id => id) from late;
select outbox.tick(), outbox.tick();
select results_eq('select status, replayed, skipped from outbox.replay_job', $$values ('done', 0::bigint, 1::bigint)$$, 'a replay of its dead letters skips them');
select is((select replayed_at from outbox.dead_letter join letter on event = event_id join late l on l.id = endpoint_id), null, 'they stay as they are');
select is((select count(*) from outbox.delivery join late on id = endpoint_id), 0::bigint, 'and open nothing');

select * from finish();
rollback;
