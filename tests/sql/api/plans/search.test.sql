-- A search reads what it finds, among 20,000 events of the same organisation, with statistics of empty tables and with
-- fresh ones. An event without an id to search by is in no index of a search.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(16);

analyze outbox.event, outbox.dead_letter, outbox.delivery, outbox.attempt;
select events(20000, 'a.b', p_org_id => 'many') is null as made_them;
create temporary table made as select endpoint(p_org_id => 'many') as id;
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), e.id, m.id, 'many', 'a.b', '{}', 'no', 6, outbox.clock(), 'other', 6, e.created_at, 'retries_exhausted' from outbox.event e, made m;
select outbox.publish('a.c', '{}', 'many', p_correlation_id => 'cart-7', p_idempotency_key => 'key-7') is null as one;

create function measure(p_what text, p_call text) returns integer language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
  v_found jsonb;
begin
  execute 'select ' || p_call into v_found;
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
  return jsonb_array_length(v_found -> 'events');
end
$$;
create temporary table search (name text, call text);
insert into search values
  ('correlation', $$outbox.search_org('many', 'cart-7')$$), ('key', $$outbox.search_org('many', p_idempotency_key => 'key-7')$$);

select is(measure('stale: ' || name, call), 1, name || ': found with stale statistics') from search;
select cmp_ok(rows_touched('stale: ' || name), '<=', 100::bigint, name || ': reads little') from search;
analyze outbox.event, outbox.dead_letter, outbox.delivery, outbox.attempt;
select is(measure('fresh: ' || name, call), 1, name || ': found with fresh ones') from search;
select cmp_ok(rows_touched('fresh: ' || name), '<=', 100::bigint, name || ': reads little with fresh ones') from search;

-- 60 events with 100 deliveries each: a page has those of one event.
create temporary table wide as select outbox.publish('a.w', '{}', 'many', p_correlation_id => 'wide') as id from generate_series(1, 60);
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select w.id, gen_random_uuid(), 1000000, outbox.clock(), 2 from wide w, generate_series(1, 100);
select is(measure('wide', $$outbox.search_org('many', 'wide', p_limit => 50)$$), 50, 'wide: a page of events');
select cmp_ok(rows_touched('wide'), '<=', 6000::bigint, 'wide: reads the deliveries of few events');

-- Sizes of the indexes of the partition of today: 20,000 events without an id, and one with both.
select cmp_ok(pg_relation_size(i.indexrelid), '<=', 16384::bigint, 'an event without a ' || w.word || ' is not in its index')
from (values ('correlation_id'), ('idempotency_key')) w (word)
join pg_index i on i.indrelid = (select e.tableoid from outbox.event e limit 1)
join pg_class c on c.oid = i.indexrelid and pg_get_indexdef(i.indexrelid) like '%, ' || w.word || ', id)%';

-- Neither does a search read the entries of other ids in the index, which are no rows: 20,000 events that have both.
insert into outbox.event (id, org_id, type, body, correlation_id, idempotency_key, created_at)
select outbox.uuid_v7(outbox.clock() + n * interval '1 ms'), 'full', 'a.b', '{}', 'cart-' || n, 'key-' || n, outbox.clock() from generate_series(1, 20000) n;
insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, idempotency_key, attempt, event_created_at, why)
select gen_random_uuid(), e.id, m.id, 'full', 'a.b', '{}', 'no', 6, outbox.clock(), e.correlation_id, e.idempotency_key, 6, e.created_at, 'retries_exhausted' from outbox.event e, made m where e.org_id = 'full';
create function blocks() returns bigint language sql volatile as $$
  select sum(pg_stat_get_xact_blocks_fetched(i.indexrelid)) from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'outbox'::regnamespace
$$;
create function blocks_of(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := helper.blocks();
begin
  execute 'select ' || p_call;
  return helper.blocks() - v_before;
end
$$;
create temporary table missing (name text, call text);
insert into missing values
  ('a correlation id that is not there', $$outbox.search_org('full', 'nothing')$$),
  ('a key that is not there', $$outbox.search_org('full', p_idempotency_key => 'nothing')$$);
select cmp_ok(blocks_of(call), '<=', 160::bigint, name || ': reads few pages of the indexes with old statistics') from missing;
analyze outbox.event, outbox.dead_letter;
select cmp_ok(blocks_of(call), '<=', 160::bigint, name || ': reads few with fresh ones') from missing;

select * from finish();
rollback;
