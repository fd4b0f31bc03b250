-- The history of the catalogue: each change with who made it, and the members of the payload that it concerns.
begin;
\ir ../../_helpers.sql
select plan(30);

create function pg_temp.latest(p_org_id text, p_type text) returns jsonb language sql as $$
  select outbox.list_event_type_changes(p_org_id, p_type, p_limit => 1) -> 'data' -> 0
$$;
create function pg_temp.schema_of(p_properties text, p_required text default '[]', p_more text default '') returns json language sql as $$
  select format('{"type": "object", "required": %s, "properties": %s%s}', p_required, p_properties, p_more)::json
$$;

select outbox.put_event_type('org-1', 'order.paid', 'Paid', pg_temp.schema_of('{"id": {"type": "integer"}}'), true, p_actor => 'user:ada');
select is(pg_temp.latest('org-1', 'order.paid') - 'id', '{"type": "order.paid", "action": "CREATED", "actor": "user:ada", "at": "2026-03-01T12:00:00.000Z",
  "description": true, "schema": true, "otherRules": false, "added": ["id"], "removed": [], "changed": [], "more": 0}', 'created, by whom and when');
select outbox.put_event_type('org-1', 'order.paid', 'Paid', pg_temp.schema_of('{"id": {"type": "integer"}}'), true);
select outbox.put_event_type('org-1', 'order.paid', 'Paid', pg_temp.schema_of('{"id": {"type": "integer"}}'));
select is(jsonb_array_length(outbox.list_event_type_changes('org-1', 'order.paid') -> 'data'), 1, 'what changes nothing is not recorded');

select time_passes('1 h');
select outbox.put_event_type('org-1', 'order.paid', 'Paid', pg_temp.schema_of('{"id": {"type": "string"}, "total": {"type": "number"}, "items": {"type": "array", "items": {"properties": {"sku": {}}}}}'));
select is(pg_temp.latest('org-1', 'order.paid') - '{id,type,at}'::text[], '{"action": "CHANGED", "actor": null, "description": false, "schema": true, "otherRules": false,
  "added": ["items", "items[]", "items[].sku", "total"], "removed": [], "changed": ["id"], "more": 0}', 'members of members have a path');
select outbox.put_event_type('org-1', 'order.paid', 'Paid', pg_temp.schema_of('{"id": {"type": "string"}, "items": {"type": "array", "items": {"properties": {"sku": {"type": "string"}}}}}', '["id"]'));
select is(pg_temp.latest('org-1', 'order.paid') - '{id,type,at,action,actor,description,schema,otherRules}'::text[],
  '{"added": [], "removed": ["total"], "changed": ["id", "items[].sku"], "more": 0}', 'a member that becomes required has changed, and what is above a changed member has not');
select outbox.put_event_type('org-1', 'order.paid', 'An order is paid', pg_temp.schema_of('{"id": {"type": "string"}, "items": {"type": "array", "items": {"properties": {"sku": {"type": "string"}}}}}', '["id"]', ', "additionalProperties": false'));
select is(pg_temp.latest('org-1', 'order.paid') - '{id,type,at,action,actor}'::text[],
  '{"description": true, "schema": true, "otherRules": true, "added": [], "removed": [], "changed": [], "more": 0}', 'rules of the whole payload concern no member');
select outbox.put_event_type('org-1', 'order.paid', 'An order is paid');
select is(pg_temp.latest('org-1', 'order.paid') -> 'removed', '["id", "items", "items[]", "items[].sku"]', 'without a schema all are gone');
select outbox.delete_event_type('org-1', 'order.paid', 'key:default');
select is(pg_temp.latest('org-1', 'order.paid') - '{id,type,at}'::text[], '{"action": "DELETED", "actor": "key:default", "description": true, "schema": false, "otherRules": false, "added": [], "removed": [], "changed": [], "more": 0}',
  'deleted');
select outbox.put_event_type('org-1', 'order.paid');
select is(pg_temp.latest('org-1', 'order.paid') ->> 'action', 'CREATED', 'and created again, with the history before it');
select is(jsonb_array_length(outbox.list_event_type_changes('org-1', 'order.paid') -> 'data'), 7, 'each change is there');

-- Beside members that changed, everything else of a schema counts.
create function pg_temp.is_other(p_before text, p_after text) returns text language plpgsql as $$
declare
  v_latest jsonb;
begin
  perform outbox.put_event_type('org-5', 'rules', '', p_before::json);
  perform outbox.put_event_type('org-5', 'rules', '', p_after::json);
  v_latest := pg_temp.latest('org-5', 'rules');
  return concat_ws(' ', v_latest ->> 'otherRules', v_latest ->> 'added', v_latest ->> 'changed');
end
$$;
select is(pg_temp.is_other(before, format('{"properties": {"a": {}, "note": {}}%s}', after)), expected, what)
from (values
  ('{"properties": {"a": {}}}', '', 'false ["note"] []', 'a new member alone'),
  ('{"properties": {"a": {}}}', ', "additionalProperties": false', 'true ["note"] []', 'and no further ones are allowed'),
  ('{"properties": {"a": {}}, "$defs": {"d": true}}', ', "$defs": {"d": false}', 'true ["note"] []', 'and a definition'),
  ('{"properties": {"a": {}}}', ', "required": ["x"]', 'true ["note"] []', 'and a name is required that is not listed'),
  ('{"properties": {"a": {}}}', ', "required": ["a"]', 'false ["note"] ["a"]', 'and one that is'),
  ('{"properties": {"a": {}}, "required": ["x", "y"]}', ', "required": ["y", "x"]', 'false ["note"] []', 'and their order')
) v (before, after, expected, what);
select is(pg_temp.is_other('{"properties": {"a": {"items": [true]}, "b": {}}}', '{"properties": {"a": {"items": [false]}, "b": {"type": "string"}}}'), 'false [] ["a", "b"]', 'items that are listed one by one belong to their member');
select is(pg_temp.is_other('true', 'false'), 'true [] []', 'a schema that is no object');

-- Schemas that are no objects, and such as list no members.
select outbox.put_event_type('org-2', 'odd', '', s::json) from unnest(array['true', '{"properties": [1]}', '{"properties": {"a": true, "b": {"properties": 1, "items": [1], "required": {"c": 1}}}}', 'false']) s;
select is(jsonb_path_query_array(outbox.list_event_type_changes('org-2', 'odd'), '$.data[*].added'), '[[], ["a", "b"], [], []]', 'odd schemas are compared as far as they list members');
select is(pg_temp.latest('org-2', 'odd') -> 'removed', '["a", "b"]', 'to the last');

-- At the bounds.
select outbox.put_event_type('org-3', 'wide', '', pg_temp.schema_of((select json_object_agg('m' || lpad(n::text, 3, '0'), '{}'::json) from generate_series(1, 51) n)::text));
select is(jsonb_array_length(pg_temp.latest('org-3', 'wide') -> 'added'), 50, 'a change has 50 names at most');
select is(pg_temp.latest('org-3', 'wide') -> 'more', '1', 'and the number of those that are left out');
select outbox.put_event_type('org-3', 'deep', '', (select (repeat('{"properties": {"a": ', 9) || '{}' || repeat('}}', 9))::json));
select is(jsonb_array_length(pg_temp.latest('org-3', 'deep') -> 'added'), 8, 'members of eight levels are compared');
select outbox.put_event_type('org-3', 'long', '', json_build_object('properties', json_build_object(repeat('x', 200), true, repeat('x', 201), true)));
select is(pg_temp.latest('org-3', 'long') -> 'added', jsonb_build_array(repeat('x', 200)), 'and names of 200 characters');
select outbox.put_event_type('org-3', 'often', n::text) from generate_series(1, 102) n;
select is((select count(*) from outbox.event_type_change where type = 'often'), 100::bigint, 'the newest 100 changes of a type are kept');
select is((select max(id) - min(id) from outbox.event_type_change where type = 'often'), 99::bigint, 'and no older one');
select is(outbox.list_event_type_changes('org-4'), '{"data": [], "nextCursor": null}', 'another organisation has its own');
select is(refusal($$select outbox.list_event_type_changes('org-1', null, 'AAAA')$$), 'OH001 cursor is not a cursor of this list', 'a cursor of another list is refused');

-- The cleanup.
update outbox.event_type_change set created_at = outbox.clock() - interval '2 years' where type = 'wide';
select is(outbox.remove_type_changes(outbox.clock(), 10), 0, 'a change of two years ago is kept');
update outbox.event_type_change set created_at = outbox.clock() - interval '2 years 1 second' where type in ('wide', 'deep');
select is(outbox.remove_type_changes(outbox.clock(), 1), 1, 'an older one is deleted, as many as asked');
select is(outbox.remove_type_changes(outbox.clock(), 10), 1, 'then the others');

select * from finish();
rollback;
