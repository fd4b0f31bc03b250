-- A result counts only while the lease of that very attempt stands; any other is counted and changes nothing.
begin;
\ir ../../_helpers.sql
select plan(22);

create temporary table ours as select endpoint() as id, endpoint('{}') as other;
create temporary table given as select events(4) as ids;
create temporary table answer as select step(3) as a;
create function state() returns text language sql as $$
  select (select jsonb_agg(d order by d.event_id) from outbox.delivery d)::text
    || (select jsonb_agg(l order by l.id) from outbox.lane l)::text
    || (select jsonb_agg(to_jsonb(g) - 'next_at' order by g.id) from outbox.gate g)::text
    || (select count(*) from outbox.attempt) || (select count(*) from outbox.dead_letter)
$$;
create temporary table before as select state() as s;

create temporary table stale as
select c.what, jsonb_build_object('event', g.ids[1], 'endpoint', o.id, 'attempt', 1, 'outcome', 'delivered') || c.but as r
from given g, ours o, lateral (values
  ('an earlier attempt', jsonb_build_object('attempt', 0)),
  ('a later attempt', jsonb_build_object('attempt', 2)),
  ('no attempt', jsonb_build_object('attempt', null)),
  ('another endpoint', jsonb_build_object('endpoint', o.other)),
  ('an unknown endpoint', jsonb_build_object('endpoint', '00000000-0000-0000-0000-000000000000')),
  ('no endpoint', jsonb_build_object('endpoint', null)),
  ('an unknown event', jsonb_build_object('event', '00000000-0000-0000-0000-000000000000')),
  ('no event', jsonb_build_object('event', null)),
  ('a delivery that nobody holds', jsonb_build_object('event', g.ids[4], 'attempt', 0)),
  ('an outcome that does not exist', jsonb_build_object('outcome', 'lost')),
  ('no outcome', jsonb_build_object('outcome', null))
) c (what, but);
select is((select (a ->> 'applied') || '/' || (a ->> 'stale') from (select step(0, jsonb_build_array(s.r)) as a) x), '0/1', 'a result for ' || s.what || ' is stale')
from stale s;
select is(state(), (select s from before), 'and changes nothing');

-- One result in a batch of stale ones, and one given twice.
create temporary table mixed as
select step(0, (select jsonb_agg(s.r) from stale s) || results(a, 'delivered') || results(a, 'failed', '{"status": 404}')) as a from answer;
select is((select (a ->> 'applied') || '/' || (a ->> 'stale') from mixed), '3/14', 'of two results for one attempt the first counts');
select is((select count(*)::integer from outbox.attempt where outcome = 'delivered'), 3, 'and is what is written');
select is((select count(*)::integer from outbox.delivery), 1, 'only the row that nobody held is left');
select is_empty('select * from miscounts()', 'the counters are right');

-- What comes after the row is gone, given back, or claimed again.
select is(step(0, results(a, 'delivered')) -> 'stale', '3', 'a result that comes again is stale') from answer;
update answer set a = step() where true;
select is(step(0, results(a, 'released')) -> 'applied', '1', 'a row is given back') from answer;
select is(step(0, results(a, 'failed', '{"status": 404}')) -> 'stale', '1', 'a failure reported after that is stale') from answer;
create temporary table again as select step() as a;
select is(step(0, results(answer.a, 'delivered')) -> 'stale', '1', 'a result of the earlier attempt does not touch the next one') from answer;
select is((select leased_until is not null and attempt = 2 from outbox.delivery), true, 'whose lease stands') from again;
select is(step(0, results(a, 'delivered')) -> 'applied', '1', 'and whose own result counts') from again;

select * from finish();
rollback;
