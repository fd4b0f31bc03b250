-- The settings as an organisation has them.
begin;
\ir ../../_helpers.sql
select plan(9);

create function of_org(p_org text, p_all boolean default false) returns setof jsonb language sql as $$
  select jsonb_array_elements(outbox.list_org_settings(p_org, p_all) -> 'data')
$$;
create function one(p_org text, p_name text) returns jsonb language sql as $$
  select s from of_org(p_org, true) s where s ->> 'name' = p_name
$$;
select outbox.set_org_setting('org-1', 'api.burst', '7');

select is((select count(*) from of_org('org-1', true)), (select count(*) from outbox.setting), 'all settings for the operator');
select set_eq($$select s ->> 'name' from of_org('org-1') s$$, $$select name from outbox.setting where by_org$$, 'those of an organisation for the others');
select is((select array_agg(s ->> 'name') from of_org('org-1', true) s), (select array_agg(name order by name) from outbox.setting), 'by name');
select is(one('org-1', 'api.burst') - 'updatedAt' - 'description', '{"name": "api.burst", "value": 7, "own": true, "type": "integer", "lowest": 1, "highest": 100000, "byOrganisation": true}', 'its own value');
select is(one('org-2', 'api.burst') -> 'value', '200', 'is only its own');
select is(one('org-2', 'api.burst') -> 'own', 'false', 'as it says');
select is(one('org-1', 'worker.enabled') -> 'byOrganisation', 'false', 'a setting of the whole project');
select is((one('org-1', 'api.burst') ->> 'updatedAt')::timestamptz, outbox.clock(), 'and when it was changed');
select set_org_setting is not null from outbox.set_org_setting('org-1', 'api.burst', null);
select is(one('org-1', 'api.burst') -> 'value', '200', 'without its own value, that of all applies');

select * from finish();
rollback;
