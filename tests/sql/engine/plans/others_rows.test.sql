-- Modules: messages
-- A look-up of one organisation reads no rows of another one with 30,000, and none of its own outside the range. Row
-- counters do not count what an index scan skips, so the test counts blocks.
begin;
\ir ../../_helpers.sql
select plan(15);

create function blocks(p_statement text) returns bigint language plpgsql as $$
declare
  v_plan json;
begin
  -- The first time it also reads the catalogue.
  for n in 1 .. 2 loop
    execute 'explain (analyze, buffers, timing off, summary off, format json) ' || p_statement into v_plan;
  end loop;
  return (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end
$$;
-- Ids of one period of 256 ms.
create function id_in_period(p_n integer) returns uuid language sql immutable
return ('019ca945-0a00-7000-8000-' || lpad(to_hex(p_n), 12, '0'))::uuid;
create function look_ups(p_when text) returns setof text language plpgsql as $$
begin
  return next cmp_ok(blocks($s$select outbox.first_waiting('a')$s$), '<', 60::bigint, p_when || ': the first event of an organisation that has one');
  return next cmp_ok(blocks($s$select outbox.first_waiting('b')$s$), '<', 60::bigint, p_when || ': that of one whose part is done');
  return next cmp_ok(blocks($s$select outbox.read_turn(r, null::outbox.routing) from outbox.router r$s$), '<', 150::bigint, p_when || ': a turn');
  return next cmp_ok(blocks($s$select outbox.next_unrouted(r) from outbox.router r$s$), '<', 150::bigint, p_when || ': the event that a batch of one begins with');
  return next cmp_ok(blocks($s$select outbox.waiting_events(10)$s$), '<', 60::bigint, p_when || ': what waits for a turn');
end
$$;

-- The first statistics are those of empty tables.
analyze outbox.unrouted, outbox.waiting_part, outbox.refusal, outbox.unroutable, outbox.dead_letter, outbox.outbound_message, outbox.audit_event;
insert into outbox.unrouted (event_id, org_id) select id_in_period(n), 'z' from generate_series(1, 30000) n;
insert into outbox.unrouted (event_id, org_id) values (id_in_period(0), 'a');
insert into outbox.waiting_part select o, outbox.period_of(id_in_period(0)) from unnest('{a,b}'::text[]) o;
-- None of them is new.
update outbox.router set watermark = id_in_period(30001), seen_below = ((pg_current_xact_id()::text)::bigint + 1)::text::xid8 where true;
select look_ups('stale');
analyze outbox.unrouted, outbox.waiting_part;
select look_ups('fresh');

create temporary table one as select endpoint(p_org_id => 'z') as id;
-- Two are due, so that a limit of one also looks at each endpoint.
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
select gen_random_uuid(), o.id, 'routing', 1, 'P0001', 'no', outbox.clock(), outbox.clock() + (n - 2) * interval '1 s' from one o, generate_series(1, 30000) n;
select cmp_ok(blocks($$select outbox.waiting_refusals(outbox.clock(), 1, 10)$$), '<', 60::bigint, 'deliveries to create again: none of those that wait');

insert into outbox.unroutable (event_id, error, set_aside_at, org_id, again_at)
select gen_random_uuid(), 'no', outbox.clock(), 'z', outbox.clock() + (n - 2) * interval '1 s' from generate_series(1, 30000) n;
select cmp_ok(blocks($$select outbox.waiting_events_aside(outbox.clock(), 1, 10)$$), '<', 60::bigint, 'events to route again: none of those that wait');

insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select gen_random_uuid(), gen_random_uuid(), o.id, 'z', 'a.b', '{}', 'no', 6, outbox.clock() + n * interval '1 ms', 'c', 6, outbox.clock(), 'retries_exhausted'
from one o, generate_series(1, 30000) n;
insert into outbox.replay_job (org_id, failed_to, rate_per_second, created_at, status) values ('z', outbox.clock() + interval '5 ms', 1000, outbox.clock(), 'running');
select cmp_ok(blocks($$select outbox.next_letters(j) from outbox.replay_job j$$), '<', 100::bigint, 'a replay job: none of the dead letters after its end');

insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, created_at, correlation_id)
select 'z', 'OUTBOUND_MESSAGE', n::text, 'a', '', outbox.clock(), lpad(n::text, 6, '0') from generate_series(1, 30000) n;
select cmp_ok(blocks($$select outbox.audit_of_correlation('z', '030000', 50)$$), '<', 60::bigint, 'a search: none of the lower correlation ids');
insert into outbox.outbound_message (org_id, channel, to_recipient, payload_json, idempotency_key, created_at, updated_at, channel_id, event_id, content, category, correlation_id)
select 'z', 'WHATSAPP', '+12025550100', '{}', n::text, outbox.clock(), outbox.clock(), o.id, gen_random_uuid(), '', 'UTILITY', lpad(n::text, 6, '0') from one o, generate_series(1, 30000) n;
select cmp_ok(blocks($$select outbox.messages_of_correlation('z', '030000', 50)$$), '<', 60::bigint, 'a search: none of the messages of lower correlation ids');

select * from finish();
rollback;
