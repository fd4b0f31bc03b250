-- Modules: messages
-- Each column of each view has a written meaning, and this meaning again as an expression over the tables, which is compared
-- for every row of the view.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(8);

-- A delivery in each state, and a message that failed and one that was sent.
create temporary table made as select endpoint('{open.*}') as open, endpoint('{held.*}') as held, endpoint('{break.*}', p_breaker => true) as broken,
  endpoint('{dead.*}', p_retry => plain_retry(0)) as dead, endpoint('{slow.*}') as slow, endpoint('{end.*}') as ended;
select outbox.publish('open.a', '{"n": 1}', p_correlation_id => 'c-1', p_partition_key => 'k-1'), outbox.publish('held.a', '{}'), outbox.publish('end.a', '{}'), outbox.publish('dead.a', '{"n": 2}', p_correlation_id => 'c-2', p_partition_key => 'k-2'),
  outbox.publish('dead.b', '{}'), outbox.publish('nobody.a', '{}');
select events(6, 'break.a'), events(1, 'slow.a');
create temporary table answer as select step(100) as a;
select step(0, (
  select jsonb_agg(case
      when x.r ->> 'endpoint' = m.broken::text then x.r || '{"status": 500, "error": "broken"}'
      when x.r ->> 'endpoint' = m.dead::text then x.r || '{"status": 404, "error": "no such page"}'
      when x.r ->> 'endpoint' = m.slow::text then x.r || '{"status": 429, "error": "slow down", "retry_after": "90"}'
      when x.r ->> 'endpoint' = m.ended::text then x.r || '{"outcome": "delivered", "status": 200}'
      else x.r || '{"outcome": "released"}' end)
  from made m, answer, jsonb_array_elements(results(a, 'failed')) x (r)));
select time_passes('2 s');
create temporary table again as select step(2) as a;
select outbox.pause_endpoint(held, 'a fault') from made;
select outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x where x.original_topic = 'dead.b';
select outbox.publish('open.b', '{}', p_deliver_at => outbox.clock() + interval '1 h');
select channel(), template();
select message('+12025550111'), message('+12025550112');
select time_passes('10 s');
create temporary table sent as select step() as a;
select step(0, (
  select jsonb_agg(case m.to_recipient when '+12025550111' then r || '{"outcome": "delivered", "status": 200, "provider_id": "wamid.1"}' else r || '{"status": 500, "code": "1", "error": "not now"}' end)
  from sent, jsonb_array_elements(results(a, 'failed')) r join outbox.outbound_message m on m.event_id::text = r ->> 'event'));

create function ev(p_id uuid) returns outbox.event language sql stable as $$ select e from outbox.event e where e.id = p_id $$;
create function ep(p_id uuid) returns outbox.endpoint language sql stable as $$ select e from outbox.endpoint e where e.id = p_id $$;
create function del(p_id uuid, p_endpoint uuid) returns outbox.delivery language sql stable as $$ select d from outbox.delivery d where d.event_id = p_id and d.endpoint_id = p_endpoint $$;
create function fin(p_id uuid, p_endpoint uuid) returns outbox.attempt language sql stable as $$
  select a from outbox.attempt a where a.event_id = p_id and a.endpoint_id is not distinct from p_endpoint and (a.kind = 'close' or a.outcome = 'delivered')
    and not exists (select from outbox.delivery d where d.event_id = p_id and d.endpoint_id = p_endpoint)
  order by a.attempt desc, a.at desc limit 1
$$;
-- The last attempt since the creation or the last replay.
create function att(p_id uuid, p_endpoint uuid) returns outbox.attempt language sql stable as $$
  select a from outbox.attempt a where a.event_id = p_id and a.endpoint_id = p_endpoint and a.kind = 'attempt' and a.outcome <> 'released'
    and a.at >= coalesce((del(p_id, p_endpoint)).replayed_at, '-infinity') order by a.attempt desc limit 1
$$;
-- In a lane, the next attempt waits for the lane, too.
create function due(p_id uuid, p_endpoint uuid) returns timestamptz language sql stable as $$
  select greatest(d.due_at, case when l.ordered then l.not_before end) from outbox.delivery d join outbox.lane l on l.id = d.lane_id where d.event_id = p_id and d.endpoint_id = p_endpoint
$$;
create function streak(p_endpoint uuid) returns setof outbox.attempt language sql stable as $$
  select a.* from outbox.attempt a where a.endpoint_id = p_endpoint and a.kind = 'attempt' and a.outcome = 'failed' and (ep(p_endpoint)).kind = 'webhook'
$$;

create temporary table meaning ("view" text, "column" text, expression text);
insert into meaning values
  ('delivery_status', 'event_id', $$(select x from (select (del(r.event_id, r.endpoint_id)).event_id union select (fin(r.event_id, r.endpoint_id)).event_id) u (x) where x is not null)$$),
  ('delivery_status', 'endpoint_id', $$(select e.id from outbox.endpoint e where e.id = r.endpoint_id)$$),
  ('delivery_status', 'org_id', $$(ev(r.event_id)).org_id$$),
  ('delivery_status', 'event_type', $$(ev(r.event_id)).type$$),
  ('delivery_status', 'status', $$case
    when (fin(r.event_id, r.endpoint_id)).outcome is not null then (fin(r.event_id, r.endpoint_id)).outcome
    when (del(r.event_id, r.endpoint_id)).leased_until is not null then 'processing'
    when (ep(r.endpoint_id)).status = 'paused' or breaker_of(r.endpoint_id) <> 'closed' then 'held'
    when (del(r.event_id, r.endpoint_id)).failed_attempts > 0 then 'retrying' else 'pending' end$$),
  ('delivery_status', 'held_because', $$case when r.open then case when (ep(r.endpoint_id)).status = 'paused' then 'endpoint paused: a fault' when breaker_of(r.endpoint_id) <> 'closed' then 'breaker open' end else (fin(r.event_id, r.endpoint_id)).error end$$),
  ('delivery_status', 'attempt', $$coalesce((del(r.event_id, r.endpoint_id)).attempt, (fin(r.event_id, r.endpoint_id)).attempt)$$),
  ('delivery_status', 'failed_attempts', $$(select case when r.status <> 'no_subscriber' then count(*) end from outbox.attempt a where a.event_id = r.event_id and a.endpoint_id = r.endpoint_id and a.kind = 'attempt' and a.outcome = 'failed'
    and a.at >= coalesce((del(r.event_id, r.endpoint_id)).replayed_at, '-infinity'))$$),
  ('delivery_status', 'next_attempt_at', $$due(r.event_id, r.endpoint_id)$$),
  ('delivery_status', 'created_at', $$(ev(r.event_id)).created_at$$),
  ('delivery_status', 'finished_at', $$(fin(r.event_id, r.endpoint_id)).at$$),
  ('delivery_status', 'open', $$(del(r.event_id, r.endpoint_id)).event_id is not null$$);
insert into meaning
select v.name, c.name, replace(c.expression, 'ID', case v.name when 'saga_outbox' then 'r.event_id' else 'r.id' end)
from (values ('webhook_outbox'), ('saga_outbox'), ('transaction_outbox')) v (name)
join pg_attribute a on a.attrelid = ('outbox.' || v.name)::regclass and a.attnum > 0
join (values
  ('id', $$(ev(ID)).id$$), ('event_id', $$(ev(ID)).id$$), ('event_type', $$(ev(ID)).type$$), ('payload', $$(ev(ID)).body$$),
  ('partition_key', $$(ev(ID)).partition_key$$), ('created_at', $$(ev(ID)).created_at$$),
  ('correlation_id', $$coalesce((ev(ID)).correlation_id, ID::text)$$), ('saga_id', $$coalesce((ev(ID)).correlation_id, ID::text)$$),
  ('endpoint_id', $$coalesce((select s.endpoint_id from outbox.delivery_status s where s.event_id = ID and s.endpoint_id = r.endpoint_id), (ev(ID)).endpoint_id)$$),
  ('status', $$(select case v.name
      when 'webhook_outbox' then upper(s.stage)
      when 'saga_outbox' then case s.stage when 'processing' then 'CLAIMED' when 'delivered' then 'SENT' else upper(s.stage) end
      else case s.stage when 'delivered' then 'processed' when 'dead_letter' then 'dlq' else s.stage end end
    from (values ('VIEW')) v (name), (select coalesce((fin(ID, r.endpoint_id)).outcome, case when (del(ID, r.endpoint_id)).leased_until is not null then 'processing'
      when (del(ID, r.endpoint_id)).failed_attempts > 0 then 'failed' else 'pending' end) as stage) s)$$),
  ('retry_count', $$coalesce((select s.failed_attempts from outbox.delivery_status s where s.event_id = ID and s.endpoint_id is not distinct from r.endpoint_id), 0)$$),
  ('next_retry_at', $$case when (fin(ID, r.endpoint_id)).outcome is null then coalesce(due(ID, r.endpoint_id), (ev(ID)).deliver_at, (ev(ID)).created_at) end$$),
  ('last_error', $$(att(ID, r.endpoint_id)).error$$), ('last_attempt_at', $$(att(ID, r.endpoint_id)).at$$),
  ('delivered_at', $$(select f.at from fin(ID, r.endpoint_id) f where f.outcome = 'delivered')$$),
  ('max_retries', $$case r.endpoint_id when (select dead from made) then 1 else 6 end$$)
) c (name, expression) on c.name = a.attname;
update meaning m set expression = replace(expression, 'VIEW', m."view") where true;
insert into meaning
select 'endpoint_status', c, format('(ep(r.id)).%I', c) from unnest('{id,org_id,kind,url,description,created_at,updated_at}'::text[]) c;
insert into meaning values
  ('endpoint_status', 'status', $$case when breaker_of(r.id) = 'open' then 'breaker open' else (ep(r.id)).status end$$),
  ('endpoint_status', 'reason', $$(ep(r.id)).status_reason$$),
  ('endpoint_status', 'open', $$(select count(*) from outbox.delivery d where d.endpoint_id = r.id)$$),
  ('endpoint_status', 'in_flight', $$(select count(*) from outbox.delivery d where d.endpoint_id = r.id and d.leased_until is not null)$$),
  ('endpoint_status', 'failures_running', $$case r.kind when 'webhook' then (select count(*) from streak(r.id) s where s.status = 500) else r.failures_running end$$),
  ('endpoint_status', 'failing_since', $$case r.kind when 'webhook' then (select min(s.at) from streak(r.id) s where s.status <> 429) else r.failing_since end$$),
  ('endpoint_status', 'probe_at', $$case breaker_of(r.id) when 'open' then (select max(s.at) + interval '30 s' from streak(r.id) s) end$$),
  ('endpoint_status', 'next_at', $$nullif((gate_of(r.id)).next_at, 'infinity')$$),
  ('endpoint_status', 'not_before', $$case r.id when (select slow from made) then (select a.at + interval '90 s' from outbox.attempt a where a.endpoint_id = r.id) else nullif((gate_of(r.id)).not_before, '-infinity') end$$),
  ('endpoint_status', 'set_aside', $$(select count(*) from outbox.refusal f where f.endpoint_id = r.id)$$),
  ('endpoint_status', 'set_aside_error', $$(select max(f.error) from outbox.refusal f where f.endpoint_id = r.id)$$),
  ('queue_health', 'unrouted', $$(select count(*) from outbox.unrouted)$$),
  ('queue_health', 'oldest_unrouted_at', $$(select min(u.created_at) from outbox.unrouted n join outbox.event u on u.id = n.event_id)$$),
  ('queue_health', 'unroutable', $$(select count(*) from outbox.unroutable)$$),
  ('queue_health', 'open', $$(select count(*) from outbox.delivery)$$),
  ('queue_health', 'in_flight', $$(select count(*) from outbox.delivery d where d.leased_until is not null)$$),
  ('queue_health', 'oldest_due_at', $$(select min(g.next_at) from outbox.gate g where g.next_at < 'infinity')$$),
  ('queue_health', 'endpoints_held', $$(select count(*) from outbox.endpoint e where e.status in ('paused', 'disabled'))$$),
  ('queue_health', 'breakers_open', $$(select count(*) from outbox.endpoint e where breaker_of(e.id) <> 'closed')$$),
  ('queue_health', 'dead_letters', $$(select count(*) from outbox.dead_letter x where x.replayed_at is null and x.discarded_at is null)$$),
  ('queue_health', 'runs', $$(select count(*) from outbox.run u where u.ended_at is null and u.polled_at > now() - greatest(interval '10 s', outbox.setting_int('worker.poll_interval_ms') * interval '1 ms'))$$),
  ('queue_health', 'rows_in_default', $$(select count(*) from outbox.event_default) + (select count(*) from outbox.attempt_default)$$),
  ('queue_health', 'set_aside', $$(select count(*) from outbox.refusal)$$), ('queue_health', 'set_aside_error', $$(select max(error) from outbox.refusal)$$),
  ('queue_health', 'last_tick_at', $$outbox.last_tick_at()$$), ('queue_health', 'problems', $$outbox.queue_problems(outbox.queue_backlog())$$),
  ('queue_health', 'waiting_turn', $$(select count(*) from outbox.waiting_events(100))$$), ('queue_health', 'warnings', $$outbox.limit_warnings(outbox.clock())$$);
insert into meaning
select 'outbound_attempt', c.name, coalesce(c.expression, format('(select a.%I from outbox.message_attempt a where a.id = r.id)', c.name))
from (values ('id', null), ('outbound_message_id', $$(select a.message_id from outbox.message_attempt a where a.id = r.id)$$), ('attempt_no', '1'),
  ('status', $$(select case m.to_recipient when '+12025550111' then 'SUCCESS' else 'FAILED' end from outbox.outbound_message m where m.id = r.outbound_message_id)$$),
  ('error_code', $$case r.status when 'FAILED' then '1' end$$), ('error_message', $$case r.status when 'FAILED' then 'not now' end$$), ('provider_response', null),
  ('next_retry_at', $$(select due(m.event_id, m.channel_id) from outbox.outbound_message m where m.id = r.outbound_message_id)$$),
  ('created_at', $$outbox.clock()$$), ('updated_at', $$outbox.clock()$$)) c (name, expression);

create function wrong() returns table (problem text) language plpgsql as $$
declare
  v record;
begin
  for v in select * from meaning loop
    return query execute format('select format(%L, to_jsonb(r.%I), to_jsonb(x.expected), to_jsonb(r)) from outbox.%I r, lateral (select %s as expected) x '
      'where r.%I::text is distinct from x.expected::text', v."view" || '.' || v."column" || ' is %s, expected %s, in %s', v."column", v."view", v.expression, v."column");
  end loop;
end
$$;
create temporary view shown as
select c.relname::text as "view", a.attname::text as "column", col_description(c.oid, a.attnum) as text
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'v' and has_table_privilege('service_role', c.oid, 'select')
  and c.relname not in ('open_delivery', 'relay_status');

select cmp_ok((select count(*) from outbox.delivery_status), '>', 12::bigint, 'there are deliveries');
select set_has('select status from outbox.delivery_status', $$values ('pending'), ('held'), ('delivered'), ('dead_letter'), ('no_subscriber'), ('retrying')$$, 'in most states');
select set_eq('select status from outbox.outbound_attempt', $$values ('SUCCESS'), ('FAILED')$$, 'and attempts of messages');
select is_empty('select "view", "column" from shown where text is null', 'each column of a view has a written meaning');
select is_empty('select "view", "column" from shown except select "view", "column" from meaning', 'and an expression of it');
select is_empty('select "view", "column" from meaning except select "view", "column" from shown', 'there is no other');
select is_empty('select * from wrong()', 'each column of each row is what its meaning says');
select cmp_ok((select count(*) from shown), '>', 80::bigint, 'which are more than 80');

select * from finish();
rollback;
