-- What belongs to another org does not exist: every function that takes an endpoint of an org refuses it alike.
begin;
\ir ../../_helpers.sql
select plan(19);

create temporary table ours as
select (outbox.create_org_endpoint('org-one', '{"url": "https://example.com/one", "eventTypes": ["a.*"]}') ->> 'id')::uuid as id;
create temporary table secret as select s.id from outbox.endpoint_secret s join ours o on o.id = s.endpoint_id;

create function refused(p_call text) returns text language plpgsql as $$
begin
  return helper.refusal(format('select outbox.' || p_call, (select id from ours), (select id from secret)));
end
$$;
create temporary table calls (call text);
insert into calls values
  ('get_org_endpoint(%%s, %1$L)'), ('update_org_endpoint(%%s, %1$L, ''{}'')'), ('delete_org_endpoint(%%s, %1$L)'),
  ('get_retry_config(%%s, %1$L)'), ('set_retry_config(%%s, %1$L)'), ('get_org_secret(%%s, %1$L)'),
  ('rotate_org_secret(%%s, %1$L)'), ('expire_org_secret(%%s, %1$L, %2$L)'), ('pause_org_endpoint(%%s, %1$L)'),
  ('resume_org_endpoint(%%s, %1$L)'), ('test_org_endpoint(%%s, %1$L)'), ('get_org_test(%%s, %1$L, %1$L)'),
  ('get_org_stats(%%s, %1$L)');
select is(refused(replace(call, '%%s', '''org-two''')), format('OH002 endpoint %s does not exist', quote_nullable(id::text)), 'another org: ' || call)
from calls, ours;

select is(outbox.list_org_endpoints('org-two'), '{"data": [], "nextCursor": null, "rows": 0}', 'and its list is empty');
select is((select row(e.version, e.status)::text from outbox.endpoint e join ours using (id)), '(1,enabled)', 'nothing was changed');
select is(
  refusal(format('select outbox.expire_org_secret(%L, %L, %L)', 'org-one', id, gen_random_uuid())) like 'OH002 secret %', true,
  'a secret of another endpoint is none of this one') from ours;
select outbox.delete_org_endpoint('org-one', id) from ours;
select is(refused('get_org_endpoint(''org-one'', %1$L)'), format('OH002 endpoint %s does not exist', quote_nullable(id::text)), 'a deleted one is gone')
from ours;

select is(refusal(format('select outbox.list_org_endpoints(%L, %L)', 'org-one', c)), 'OH001 cursor is not a cursor of this list', 'no cursor: ' || c)
from (values ('x'), ('MTIz')) t (c);

select * from finish();
rollback;
