-- The open events of an organisation are found through its lanes if they are few, else among its events. Both find the
-- same, in the same order, between the same bounds.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(6);

create temporary table e as select endpoint(p_org_id => 'org-1') as id, endpoint(p_org_id => 'org-1', p_ordering => 'partition') as ordered,
  endpoint(p_org_id => 'org-1') as gone, endpoint(p_org_id => 'org-2') as other;
create temporary table v as select id, n from unnest(events(6, p_key => 'k', p_org_id => 'org-1')) with ordinality u (id, n);
select events(2, p_org_id => 'org-2');
select step(p_limit => 0);
-- The second one is delivered, and the third one is open for a deleted endpoint alone.
select outbox.cancel_delivery(v.id, x) from v, e, unnest(array[e.id, e.ordered, e.gone]) x where v.n = 2;
select outbox.cancel_delivery(v.id, x) from v, e, unnest(array[e.id, e.ordered]) x where v.n = 3;
select outbox.delete_endpoint(gone) from e;

create function found(p_after bigint, p_upto bigint, p_limit integer) returns text language sql as $$
  select string_agg(v.n::text, ' ' order by i.place)
  from unnest(outbox.open_event_ids('org-1',
    coalesce((select id from pg_temp.v where n = p_after), '00000000-0000-0000-0000-000000000000'),
    coalesce((select id from pg_temp.v where n = p_upto), 'ffffffff-ffff-ffff-ffff-ffffffffffff'), p_limit)) with ordinality i (id, place)
  left join pg_temp.v on v.id = i.id
$$;
create function all_found() returns text language sql as $$
  select concat_ws('; ', found(null, null, 2), found(1, null, 500), found(1, 5, null), found(6, null, 500))
$$;

select is(all_found(), '1 4; 4 5 6; 4 5', 'through the lanes');
select is(outbox.open_depth('org-1'), 8::bigint, 'which have 8 open deliveries');
update outbox.gate g set depth = depth + 20000 from e where g.endpoint_id = e.id;
select is(all_found(), '1 4; 4 5 6; 4 5', 'among the events');
update outbox.gate g set depth = depth - 20000 from e where g.endpoint_id = e.id;

-- A page has 4 MiB, and the first event in any case.
select time_passes('1 s');
select outbox.set_setting('publish.max_body_bytes', '1048576');
select outbox.publish_raw('a', '"' || repeat('x', 1000000) || '"', 'org-1') from generate_series(1, 6);
select step(p_limit => 0);
create temporary table page as select p.page, p.page ->> 'upto' as upto
from (select outbox.read_move_page('org-1', 'event', (select id::text from v where n = 6)) as page) p;
select is((select (page ->> 'n') || ' ' || (page ->> 'more') from page), '4 true', 'large events are fewer in a page');
select is((select (p ->> 'n') || ' ' || (p ->> 'more') from page, outbox.read_move_page('org-1', 'event', upto) p), '2 false', 'and the others follow');
select is((select p ->> 'n' from outbox.read_move_page('org-1', 'event', p_whole => true) p), '10', 'a whole range has all');

select * from finish();
rollback;
