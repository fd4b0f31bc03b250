-- Modules: api
-- Nobody changes an endpoint that has not arrived: the next run may begin again with what the source has.
-- An organisation does not move while one of its endpoints is an arrival: the target would wait for a database that
-- does not have it. The page may come from a source that does not check this.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(19);

create temporary table e as select endpoint(p_org_id => 'org-1') as id;
create temporary table m as select gen_random_uuid() as id;
create temporary table page as select (outbox.read_move_page('org-1', 'endpoint', p_with_items => true) ->> 'items')::jsonb as items;

update outbox.endpoint set status = 'paused', status_reason = outbox.arrival_reason('eu-1') where true;
select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', m.id, 'two')),
  format('OH004 organisation org-1 cannot move: endpoint %s moves here from eu-1: run outhook spread-org again', e.id), 'the source refuses to leave') from e, m;
update outbox.endpoint set status_reason = 'lunch' where true;
select is(outbox.move_blockers('org-1'), '{}', 'a pause does not prevent the move');


-- Changes.
select outbox.rotate_secret(id) from e;
create temporary table s as select id as secret from outbox.endpoint_secret where expires_at is not null;
update outbox.endpoint set status_reason = outbox.arrival_reason('eu-1') where true;
create temporary table shown as select to_jsonb(x) as endpoint, outbox.read_secret(x.id) as secrets from outbox.endpoint x;
select is(refusal('select outbox.' || format(c, id, secret)),
  format('OH004 endpoint %s moves here from eu-1, which may still deliver to it', id), format(c, 'endpoint', 'secret'))
from e, s, unnest(array[
  $$update_org_endpoint('org-1', '%s', '{"description": "x"}')$$,
  $$update_org_endpoint('org-1', '%s', '{"eventTypes": ["b"]}')$$,
  $$update_org_endpoint('org-1', '%s', '{"headers": {"x-key": "k"}}')$$,
  $$set_retry_config('org-1', '%s')$$,
  $$delete_org_endpoint('org-1', '%s')$$,
  $$delete_endpoint('%s')$$,
  $$rotate_org_secret('org-1', '%s')$$,
  $$rotate_secret('%s')$$,
  $$expire_org_secret('org-1', '%s', '%s')$$,
  $$expire_secret('%2$s')$$,
  $$set_headers('%s', '{"x-key": "k"}')$$,
  $$subscribe('%s', '{b}', '$.n > 0')$$]) c;
select is((select to_jsonb(x) from outbox.endpoint x), endpoint, 'none of them changes anything') from shown;

select outbox.drop_moved_endpoint(id) from e;
select outbox.begin_receiving('org-1', id, 'one') from m;
create function write(p_reason text) returns text language sql as $$
  select helper.refusal(format('select outbox.write_move_page(%L, %L, %L, null, %L)', 'org-1', 'endpoint', '',
    jsonb_set(items, '{0,item,status}', jsonb_build_object('status', 'paused', 'reason', p_reason))))
  from pg_temp.page
$$;
select is(write(outbox.arrival_reason('eu-1')), format('OH004 endpoint %s has not arrived in the source', id), 'the target refuses its page') from e;
select is(write('unreadable: its secret'), 'accepted', 'another reason of Outhook is taken over');
select outbox.open_target('org-1', id) from m;
select is((select status || ' ' || status_reason from outbox.endpoint), 'paused unreadable: its secret', 'with the endpoint');
select is((select s -> 'from' from jsonb_array_elements(outbox.spread_status('org-1') -> 'endpoints') s), 'null', 'which is here');

select * from finish();
rollback;
