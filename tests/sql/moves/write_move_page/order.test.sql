-- An ordered lane that arrives: what is published later comes behind, also if the clock of this database is behind. A
-- page is replaced as a whole. The source is left only for a target that has as much.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(11);

create temporary table o as select endpoint(p_org_id => 'org-1', p_ordering => 'endpoint') as id;
create temporary table m as select gen_random_uuid() as id;
select outbox.publish('a', to_jsonb(n), 'org-1') from generate_series(1, 3) n;
select step(p_limit => 0);
create temporary table page as
select p.name, outbox.read_move_page('org-1', p.name, p_with_items => true) as page
from outbox.move_part p where p.position is not null;
select is((select string_agg(name || ' ' || (page ->> 'n'), ', ' order by name) from page where page ->> 'n' <> '0'), 'endpoint 1, event 3', 'what the source has');

select outbox.begin_leaving('org-1', id, 'two') from m;
update outbox.org_move set settled_at = '1' where true;
select outbox.close_source('org-1');
update outbox.org_move set settled_at = '1' where true;
select is(refusal($$select outbox.leave_source('org-1', '{"endpoints": 1, "open": 2, "dead_letters": 0}')$$),
  'OH004 the copy of organisation org-1 is not complete: {"open": 3, "endpoints": 1, "dead_letters": 0} here, {"open": 2, "endpoints": 1, "dead_letters": 0} in the target', 'a target that has less');
select is(refusal($$select outbox.leave_source('org-1', '{"endpoints": 1, "open": 3, "dead_letters": 0}')$$), 'accepted', 'and one that has as much');

-- The same database takes the part of the target.
delete from outbox.org_move where true;
select outbox.drop_moved_endpoint(id) from o;
delete from outbox.event where true;
select outbox.begin_receiving('org-1', id, 'one') from m;
create function write(p_name text) returns text language sql as $$
  select outbox.write_move_page('org-1', p_name, '', null, page ->> 'items') ->> 'digest' from pg_temp.page where name = p_name
$$;
select is(write('endpoint'), page ->> 'digest', 'the endpoint arrives') from page where name = 'endpoint';
select is(write('event'), page ->> 'digest', 'its events too') from page where name = 'event';
select is(write('event'), page ->> 'digest', 'and are not there twice') from page where name = 'event';
select is(write('endpoint'), page ->> 'digest', 'an endpoint is replaced without its deliveries') from page where name = 'endpoint';
select is(outbox.move_totals('org-1'), '{"endpoints": 1, "open": 3, "dead_letters": 0}', 'all is there');
select time_is('2026-02-28 12:00:00+00');
select outbox.open_target('org-1', id) from m;
select outbox.publish('a', '4', 'org-1');
select step(p_limit => 0);
select is((select v.body from outbox.delivery d join outbox.event v on v.id = d.event_id order by d.due_at desc limit 1), '4', 'a later event comes behind, although the clock is behind');
select is((select status from outbox.endpoint where status <> 'deleted'), 'enabled', 'the endpoint has its status again');
select is(outbox.unknown_events('org-1', jsonb_build_array(
    jsonb_build_object('event', (select page -> 'keys' -> 0 from page where name = 'event'), 'endpoints', jsonb_build_array(o.id)),
    jsonb_build_object('event', (select page -> 'keys' -> 1 from page where name = 'event'), 'endpoints', jsonb_build_array(o.id, m.id)),
    jsonb_build_object('event', m.id, 'endpoints', jsonb_build_array(o.id)))),
  (select jsonb_agg(k order by k) from (select page -> 'keys' ->> 1 as k from page where name = 'event' union all select m.id::text) k),
  'the target knows which deliveries it has received') from m, o;

select * from finish();
rollback;
