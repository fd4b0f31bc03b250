-- The list of the audit trail: by object, action, person and time, in pages, and without messages.
begin;
\ir ../../_helpers.sql
select plan(14);

-- One row each minute: of two organisations, three people, two actions.
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, actor, created_at, data)
select 'org-' || 1 + n % 2, 'ENDPOINT', (n % 4)::text, case when n % 8 < 4 then 'PAUSED' else 'RESUMED' end, n::text, 'user:' || n % 3,
  outbox.clock() + n * interval '1 minute', case when n % 2 = 0 then jsonb_build_object('n', n) end
from generate_series(1, 40) n;
create function listed(p_more text default '') returns text language plpgsql as $$
declare
  v_result text;
begin
  execute format($q$ select string_agg(r ->> 'details', ' ' order by o) from jsonb_array_elements(outbox.list_audit_events('org-1'%s) -> 'data') with ordinality x (r, o) $q$, p_more) into v_result;
  return coalesce(v_result, '');
end
$$;
select is(listed(), '40 38 36 34 32 30 28 26 24 22 20 18 16 14 12 10 8 6 4 2', 'those of the organisation, newest first');
select is((outbox.list_audit_events('org-1', p_limit => 1) #> '{data,0}') - 'id', '{"entityType": "ENDPOINT", "entityId": "0", "action": "PAUSED", "details": "40", "actor": "user:1", "correlationId": null, "at": "2026-03-01T12:40:00.000Z", "data": {"n": 40}}', 'a row');
select is(outbox.list_audit_events('org-2', p_limit => 1) #>> '{data,0,data}', '{}', 'without data it is empty');
select is(listed($$, p_actor => 'user:1'$$), '40 34 28 22 16 10 4', 'of a person');
select is(listed($$, p_actor => 'user:1', p_audit_action => 'RESUMED'$$), '28 22 4', 'and an action');
select is(listed($$, p_audit_action => 'RESUMED', p_entity_type => 'ENDPOINT', p_entity_id => '2'$$), '38 30 22 14 6', 'of an object and an action');
select is(listed($$, p_from => '2026-03-01 12:10+00', p_to => '2026-03-01 12:20+00'$$), '18 16 14 12 10', 'of a span, without its end');
select is(listed($$, p_actor => 'user:0', p_from => '2026-03-01 12:10+00', p_to => '2026-03-01 12:20+00'$$), '18 12', 'of a person in a span');
select is(listed($$, p_to => '2026-03-01 11:00+00'$$), '', 'of before there was any');
select is(listed($$, p_from => '2026-03-01 13:00+00'$$), '', 'of after the last');
select matches(refusal($$select outbox.list_audit_events('org-1', p_from => '2026-03-02', p_to => '2026-03-01')$$), '^OH001 from is not before to', 'a span ends after it begins');
create temporary table page as select outbox.list_audit_events('org-1', p_limit => 3, p_actor => 'user:1') as p;
select is(jsonb_path_query_array(outbox.list_audit_events('org-1', p ->> 'nextCursor', 3, p_actor => 'user:1'), '$.data[*].details'), '["22", "16", "10"]', 'the next page of a person') from page;
select is((outbox.list_audit_events('org-1', p_to => '2026-03-01 12:03+00') ->> 'rows')::integer <= 2, true, 'a span in the past reads no later rows');
select is(outbox.list_audit_events('org-3'), '{"data": [], "nextCursor": null, "rows": 0}', 'another organisation has none');

select * from finish();
rollback;
