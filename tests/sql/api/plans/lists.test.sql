-- The lists of the API among 50,000 events and as many open deliveries: a page touches what it shows and no more, and
-- a page that finds nothing stops at its bound or at the end of its organisation's events, with statistics of empty tables and with fresh ones.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(54);

analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.dead_letter;
create temporary table made as select endpoint(p_org_id => 'many') as id, endpoint(p_org_id => 'few') as other;
select events(50000, 'a.b', p_org_id => 'many') is null as made_them;
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select e.id, m.id, l.id, outbox.clock(), 2
from made m join outbox.gate g on g.endpoint_id = m.id join outbox.lane l on l.gate_id = g.id cross join outbox.event e;
update outbox.gate g set depth = 50000 from made m where g.endpoint_id = m.id;
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), e.id, m.other, 'few', 'a.b', '{}', 'no', 6, outbox.clock(), 'c', 6, e.created_at, 'retries_exhausted' from outbox.event e, made m;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
select e.id, m.other, 6, outbox.clock(), 'close', 'dead_letter' from outbox.event e, made m;

create function measure_list(p_what text, p_call text) returns integer language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
  v_page jsonb;
begin
  execute 'select ' || p_call into v_page;
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
  return jsonb_array_length(v_page -> 'data');
end
$$;

create temporary table list (name text, call text, found integer, most bigint);
insert into list values
  ('events', $$outbox.list_events('many')$$, 50, 200),
  ('no events', $$outbox.list_events('few')$$, 0, 100),
  ('no events of a type', $$outbox.list_events('many', 'a.c')$$, 0, 21000),
  ('no events of a partition key', $$outbox.list_events('many', p_partition_key => 'none')$$, 0, 21000),
  ('deliveries', $$outbox.list_deliveries('many')$$, 50, 3000),
  ('no deliveries', $$outbox.list_deliveries('few')$$, 0, 100),
  ('pending', $$outbox.list_deliveries('many', 'pending')$$, 50, 3000),
  ('dead letters', $$outbox.list_deliveries('few', 'dead_letter')$$, 50, 3000),
  ('letters of the endpoint of another organisation', $$outbox.list_dead_letters('many', (select other from made))$$, 0, 20),
  ('open letters of all', $$outbox.list_all_dead_letters('open')$$, 50, 1000),
  ('letters of all', $$outbox.list_all_dead_letters()$$, 50, 1000),
  ('none pending', $$outbox.list_deliveries('few', 'pending')$$, 0, 16000),
  ('none delivered', $$outbox.list_deliveries('many', 'delivered')$$, 0, 12000);

select is(measure_list('stale: ' || name, call), found, name || ': found with stale statistics') from list;
select is_empty(format('select seq_scans(%L)', 'stale: ' || name), name || ': scans nothing') from list;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.dead_letter;
select is(measure_list('fresh: ' || name, call), found, name || ': found with fresh ones') from list;
select cmp_ok(rows_touched('fresh: ' || name), '<=', most, name || ': touches at most ' || most) from list;
select is_empty($$select what, relation from usage join helper.large using (relation) where what like 'fresh: %' and seq_scans > 0 and relation in ('event', 'delivery', 'attempt', 'dead_letter')$$, 'and scans nothing of what grows');
-- Attempts and dead letters are never drained as a queue is, so no real statistics call them empty while they are full.
select cmp_ok((select sum(rows) from usage where what = 'stale: pending' and relation not in ('attempt', 'dead_letter')), '<=', 3000::numeric, 'whatever the statistics of the queue');

select * from finish();
rollback;
