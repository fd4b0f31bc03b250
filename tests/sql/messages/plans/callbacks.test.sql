-- Callbacks among 12,000 messages and as many updates: each touches what it is about, and no table that grows is scanned, with
-- statistics of empty tables and with fresh ones.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir ../../_usage.sql
select plan(26);

create temporary table made as select channel() as channel_id, template() as code;
select time_passes('1 second');
insert into outbox.outbound_message (org_id, dossier_id, channel, to_recipient, template_code, payload_json, status, provider_message_id, idempotency_key,
  attempt_count, created_at, updated_at, channel_id, event_id, content, category, sent_at, wa_id)
select 'default', 'd' || g, 'WHATSAPP', '+12025' || lpad(g::text, 6, '0'), 'reminder', '{}', 'SENT', 'wamid.' || g, 'k' || g, 1, outbox.clock(), outbox.clock(),
  channel_id, gen_random_uuid(), '\x00', 'UTILITY', outbox.clock(), '12025' || lpad(g::text, 6, '0')
from made, generate_series(1, 12000) g;
insert into outbox.message_attempt (message_id, attempt_no, status, created_at, updated_at, event_id, claim, phone_number_id, wamid, taken_at)
select id, 1, 'SUCCESS', outbox.clock(), outbox.clock(), event_id, 1, '100000000000001', provider_message_id, outbox.clock() from outbox.outbound_message;
insert into outbox.whatsapp_update (app_id, key, kind, wamid, phone_number_id, status, happened_at, data, received_at, org_id, channel_id, message_id, attempt_id, update_status)
select '900000000000001', 'old ' || a.id, 'status', a.wamid, a.phone_number_id, 'sent', outbox.clock(), '{}', outbox.clock(), 'default', channel_id, a.message_id, a.id, 'applied'
from made, outbox.message_attempt a;

create function batch(p_from integer, p_to integer, p_status text) returns jsonb language sql as $$
  select jsonb_agg(status('wamid.' || g, p_status, 1, case when p_status = 'failed' then '{"data": {"errors": [{"code": 131050}]}}' else '{}' end::jsonb)) from generate_series(p_from, p_to) g
$$;
create function writes(p_from integer, p_to integer) returns jsonb language sql as $$
  select jsonb_agg(update_of('message', jsonb_build_object('wamid', 'wamid.I' || g, 'status', 'text', 'wa_id', '12025' || lpad(g::text, 6, '0'),
    'data', jsonb_build_object('text', '{"body": "stop"}'::jsonb, 'context', jsonb_build_object('id', 'wamid.' || g))))) from generate_series(p_from, p_to) g
$$;
create function measure_call(p_what text, p_call text) returns jsonb language plpgsql as $$
declare
  v_before jsonb;
  v_answer jsonb;
  v_updates jsonb;
begin
  select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) into v_before from helper.counters() c;
  execute 'select to_jsonb(' || p_call || ')' into v_answer;
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
  return v_answer;
end
$$;
create function scanned(p_what text) returns setof text language sql as $$
  select u.relation || ': ' || u.seq_scans from helper.usage u
  where u.what = p_what and u.seq_scans > 0 and u.relation in ('outbound_message', 'message_attempt', 'whatsapp_update', 'event', 'unrouted',
    'inbound_message', 'person', 'person_identifier', 'opt_out', 'conversation_window', 'audit_event', 'activity', 'delivery', 'lane', 'gate')
$$;
create function touched(p_what text) returns bigint language sql as $$ select sum(u.rows)::bigint from helper.usage u where u.what = p_what $$;

create temporary table call (n serial, name text, call text, applied text, most bigint);
insert into call (name, call, applied, most) values
  ('200 delivered', $$outbox.receive_callbacks('900000000000001', null, batch(%1$s + 1, %1$s + 200, 'delivered'))$$, '200', 200 * 40),
  ('10 read', $$outbox.receive_callbacks('900000000000001', null, batch(%1$s + 1, %1$s + 10, 'read'))$$, '10', 10 * 40 + 300),
  ('50 failed', $$outbox.receive_callbacks('900000000000001', null, batch(%1$s + 201, %1$s + 250, 'failed'))$$, '50', 50 * 80 + 400),
  ('50 inbound', $$outbox.receive_callbacks('900000000000001', null, writes(%1$s + 301, %1$s + 350))$$, '50', 50 * 200);

select is(measure_call('stale: ' || name, format(call, 0)) ->> 'applied', applied, name || ': applied with stale statistics') from call order by n;
select is_empty(format('select scanned(%L)', 'stale: ' || name), name || ': scans nothing') from call order by n;
select cmp_ok(touched('stale: ' || name), '<=', most, name || ': touches at most ' || most || ' rows') from call order by n;
analyze outbox.outbound_message, outbox.message_attempt, outbox.whatsapp_update, outbox.event, outbox.inbound_message, outbox.opt_out, outbox.person, outbox.person_identifier;
select is(measure_call('fresh: ' || name, format(call, 5000)) ->> 'applied', applied, name || ': applied with fresh ones') from call order by n;
select is_empty(format('select scanned(%L)', 'fresh: ' || name), name || ': scans nothing') from call order by n;
select cmp_ok(touched('fresh: ' || name), '<=', most, name || ': touches at most ' || most || ' rows') from call order by n;

select is(measure_call('sweep', 'outbox.apply_callbacks()'), '0', 'a sweep with nothing to do');
select cmp_ok(touched('sweep'), '<=', 5::bigint, 'touches next to no row');

select * from finish();
rollback;
