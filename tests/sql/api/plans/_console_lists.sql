-- Each list that the console reads, among :rows events and as many attempts of one organisation: a page touches as many
-- rows at a few thousand as at a million, whatever the statistics say. The including file sets rows, and plans the tests.
set local search_path = helper, extensions;

analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.dead_letter;
create temporary table made as select endpoint(p_org_id => 'many') as id, endpoint(p_org_id => 'many') as other, endpoint(p_org_id => 'few') as few;
-- One each 10 ms up to now; every 500th of a type of its own.
insert into outbox.event (id, org_id, type, body, correlation_id, created_at)
select outbox.uuid_v7(t), 'many', case when n % 500 = 0 then 'rare.made' else 'a.b' end, '{"id": 1}', 'cart-' || n, t
from generate_series(1, :rows) n cross join lateral (select outbox.clock() - (:rows - n) * interval '10 ms' as t) at;
-- Delivered at one endpoint, except every 500th, which failed.
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
select e.id, m.id, 1, e.created_at, 'attempt', case when e.type = 'a.b' then 'delivered' else 'failed' end, 200, 12
from made m cross join outbox.event e;
-- Open at the other: half of them.
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, failed_attempts)
select e.id, m.other, l.id, e.created_at + (:rows / 2) * interval '10 ms', 2, (e.type <> 'a.b')::integer
from made m join outbox.gate g on g.endpoint_id = m.other join outbox.lane l on l.gate_id = g.id
cross join lateral (select v.id, v.type, v.created_at from outbox.event v order by v.id desc limit :rows / 2) e;
update outbox.gate g set depth = :rows / 2 from made m where g.endpoint_id = m.other;
-- And a tenth is dead.
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), e.id, m.id, 'many', e.type, '{}', 'error ' || right(e.id::text, 1), 6, e.created_at, 'c', 6, e.created_at, 'retries_exhausted'
from made m cross join lateral (select v.id, v.type, v.created_at from outbox.event v order by v.id limit :rows / 10) e;

-- And as many rows in the audit trail, one each second: every 500th is of one person.
analyze outbox.audit_event;
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, actor, created_at, data)
select 'many', 'DELIVERY', n::text, case when n % 500 = 0 then 'CANCELLED' else 'REPLAYED' end, 'x', case when n % 500 = 0 then 'user:rare' else 'key:default' end,
  outbox.clock() - (:rows - n) * interval '1 s', '{}'
from generate_series(1, :rows) n;

create function measure_list(p_what text, p_call text) returns text language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
  v_page jsonb;
begin
  execute 'select ' || p_call into v_page;
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
  return jsonb_typeof(v_page);
end
$$;

-- A list that is not in the order of its filter stops at its bound: 20,000 events, 5,000 deliveries, or 10,000
-- attempts. Ends without an attempt are in list_org_attempts/bounds.
create temporary table list (name text, call text, most bigint);
insert into list values
  ('events', $$outbox.list_events('many')$$, 200),
  ('events of an hour', $$outbox.list_events('many', p_from => outbox.clock() - interval '1 h')$$, 200),
  ('events of a type', $$outbox.list_events('many', 'rare.made')$$, 21000),
  ('events of a partition key', $$outbox.list_events('many', p_partition_key => 'none')$$, 21000),
  ('a search', $$outbox.search_org('many', 'cart-7')$$, 200),
  ('an event', format('outbox.get_event(''many'', %L)', (select id from outbox.event order by id limit 1)), 200),
  ('deliveries', $$outbox.list_deliveries('many')$$, 1500),
  ('the backlog', $$outbox.list_deliveries('many', 'open')$$, 1500),
  ('in flight', $$outbox.list_deliveries('many', 'processing')$$, 5500),
  ('retries of the next hour', $$outbox.list_deliveries('many', 'retrying', p_due_from => outbox.clock(), p_due_to => outbox.clock() + interval '1 h')$$, 5500),
  ('delivered', $$outbox.list_deliveries('many', 'delivered')$$, 3000),
  ('attempts', $$outbox.list_org_attempts('many')$$, 300),
  ('attempts that failed', $$outbox.list_org_attempts('many', 'failed')$$, 10300),
  ('attempts of nobody', $$outbox.list_org_attempts('few')$$, 20),
  ('attempts of a delivery', format('outbox.list_attempts(''many'', %L, %L)', (select max(event_id::text) from outbox.attempt where outcome = 'delivered'), (select id from made)), 200),
  ('dead letters', $$outbox.list_dead_letters('many')$$, 300),
  ('open dead letters', $$outbox.list_dead_letters('many', p_status => 'open')$$, 300),
  ('groups of dead letters', $$outbox.group_dead_letters('many')$$, least(25100, :rows / 5 + 200)),
  ('the plan of a replay', $$outbox.preview_replay_job('many', '{}')$$, least(20100, :rows / 10 + 200)),
  ('the audit trail', $$outbox.list_audit_events('many')$$, 120),
  ('the audit trail of a person', $$outbox.list_audit_events('many', p_actor => 'user:rare')$$, 120),
  ('the audit trail of an action', $$outbox.list_audit_events('many', p_audit_action => 'CANCELLED')$$, 120),
  ('the audit trail of an object', $$outbox.list_audit_events('many', p_entity_type => 'DELIVERY', p_entity_id => '700')$$, 20),
  ('the audit trail of an hour', format('outbox.list_audit_events(''many'', p_from => %L, p_to => %L)', outbox.clock() - :rows / 2 * interval '1 s', outbox.clock() - (:rows / 2 - 3600) * interval '1 s'), 400),
  ('the audit trail of nobody', $$outbox.list_audit_events('few')$$, 20),
  ('the cleanup of the audit trail, of which nothing is due', $$jsonb_build_object('n', outbox.forget_actions(outbox.clock(), 2000))$$, 20),
  ('the cleanup of the audit trail, of which all is due', $$jsonb_build_object('n', outbox.forget_actions(outbox.clock() + interval '401 days', 2000))$$, 4200),
  ('endpoints', $$outbox.list_org_endpoints('many')$$, 100),
  ('failing endpoints', $$outbox.list_org_endpoints('many', p_health => 'failing')$$, 100),
  ('the statistics of an endpoint', format('outbox.get_org_stats(''many'', %L)', (select id from made)), 21000),
  ('the overview', $$outbox.get_org_overview('many')$$, 25200 + least(10000, :rows / 10)),
  ('the overview of a day', $$outbox.get_org_overview('many', 1440)$$, 25200 + least(10000, :rows / 10));

select is(measure_list('stale: ' || name, call), 'object', name || ': works with the statistics of empty tables') from list;
select is_empty(format('select seq_scans(%L)', 'stale: ' || name), name || ': scans nothing') from list;
select cmp_ok(rows_touched('stale: ' || name), '<=', most, name || ': touches at most ' || most) from list;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.dead_letter, outbox.audit_event;
select is(measure_list('fresh: ' || name, call), 'object', name || ': works with fresh ones') from list;
select is_empty($$select relation from usage join helper.large using (relation) where what = 'fresh: $$ || name || $$' and seq_scans > 0 and relation in ('event', 'delivery', 'attempt', 'dead_letter', 'audit_event')$$,
  name || ': scans nothing of what grows') from list;
select cmp_ok(rows_touched('fresh: ' || name), '<=', most, name || ': touches at most ' || most || ' with fresh ones') from list;
