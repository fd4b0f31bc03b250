-- Modules: api
-- Messages among 100,000: claim, complete, adopt, the lists of the API and the specification's key queries, with the
-- statistics of empty tables and with fresh ones. What a call touches must depend on neither. Takes about 10 s.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_usage.sql
select plan(75);

analyze outbox.outbound_message, outbox.message_attempt, outbox.audit_event, outbox.activity, outbox.inbound_message, outbox.consent, outbox.opt_out, outbox.event, outbox.delivery, outbox.lane;
create temporary table made as select channel('many') as a, template(p_org_id => 'many') as code, channel('few', '100000000000002') as b, template(p_org_id => 'few') as code_b;
-- Half of them are done, the other half wait behind a channel of their own: what is old costs as little as what waits.
insert into outbox.outbound_message (org_id, dossier_id, channel, to_recipient, template_code, payload_json, status, provider_message_id, idempotency_key,
  attempt_count, created_at, updated_at, channel_id, event_id, content, category, correlation_id)
select 'many', 'd-' || n % 10000, 'WHATSAPP', '+1202' || 5000000 + n % 100000, 'reminder', '{"parameters": ["Anna"]}',
  case n % 20 when 0 then 'QUEUED' when 1 then 'SENDING' when 2 then 'FAILED' when 3 then 'SENT' else 'DELIVERED' end,
  case when n % 20 > 2 then 'wamid.' || n end, 'key-' || n, 1,
  outbox.clock() - (100000 - n) * interval '1 s', outbox.clock() - (100000 - n) * interval '1 s', a, gen_random_uuid(), '\x00', 'UTILITY', case when n % 10000 = 7 then 'cart-' || n end
from generate_series(1, 100000) n, made;
insert into outbox.message_attempt (message_id, attempt_no, status, created_at, updated_at, event_id, claim, phone_number_id, wamid)
select m.id, 1, 'SUCCESS', m.created_at, m.created_at, m.event_id, 1, '100000000000001', m.provider_message_id from outbox.outbound_message m where m.id % 5 = 0;
-- The oldest is of another kind, behind more others than a page reads.
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, created_at) values ('many', 'RARE', 'first', 'CREATED', 'Created', outbox.clock() - interval '2 days');
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, created_at, correlation_id)
select 'many', 'OUTBOUND_MESSAGE', m.id::text, 'CREATED', 'Message created', m.created_at, m.correlation_id from outbox.outbound_message m where m.id % 5 = 0 or m.correlation_id is not null;
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, created_at)
select 'many', 'OUTBOUND_MESSAGE', 'further-' || n, 'CREATED', 'Message created', outbox.clock() from generate_series(1, 5000) n;
insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
select 'many', 'd-' || n % 10000, 'MESSAGE_SENT', '{}', outbox.clock() from generate_series(1, 20000) n;
insert into outbox.inbound_message (org_id, channel_id, phone_number_id, wamid, type, payload, sent_at, received_at)
select 'many', case when n = 100 then '00000000-0000-4000-8000-000000000001'::uuid else a end, '100000000000001', 'wamid.in.' || n, 'text', '{}', outbox.clock(), outbox.clock()
from generate_series(1, 20000) n, made;
select is((select count(*) from outbox.outbound_message), 100000::bigint, 'a hundred thousand messages are there');

create temporary view grown as select unnest(array['outbound_message', 'message_attempt', 'audit_event', 'activity', 'inbound_message', 'consent', 'opt_out', 'conversation_window', 'person', 'person_identifier',
  'event', 'unrouted', 'delivery', 'lane', 'attempt', 'dead_letter', 'idempotency_key', 'whatsapp_update']) as relation;
create function scanned(p_what text) returns setof text language sql as $$
  select u.relation || ': ' || u.seq_scans from helper.usage u join grown using (relation) where u.what = p_what and u.seq_scans > 0
$$;
create function touched(p_what text) returns bigint language sql as $$
  select sum(u.rows)::bigint from helper.usage u join grown using (relation) where u.what = p_what
$$;
-- Carries out a query and notes what it used.
create function use(p_what text, p_query text) returns void language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
begin
  execute p_query;
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - coalesce((v_before -> c.relation ->> 0)::bigint, 0), c.rows - coalesce((v_before -> c.relation ->> 1)::bigint, 0)
  from helper.counters() c;
end
$$;

create temporary table answer (a jsonb);
create temporary table call (name text, query text, most bigint);
insert into call values
  ('list', $$select outbox.list_messages('many')$$, 200),
  ('a late page', $$select outbox.list_messages('many', outbox.to_cursor(outbox.clock(), '00000000-0000-0000-0000-' || lpad(to_hex((select max(id) - 50000 from outbox.outbound_message)::bigint), 12, '0')))$$, 60),
  ('by dossier', $$select outbox.list_messages('many', p_dossier_id => 'd-77')$$, 60),
  ('by status', $$select outbox.list_messages('many', p_status => 'FAILED')$$, 60),
  ('by time', $$select outbox.list_messages('many', p_from => outbox.clock() - interval '1000 s', p_to => outbox.clock() - interval '900 s')$$, 1200),
  ('old, by time', $$select outbox.list_messages('many', p_from => outbox.clock() - interval '90000 s', p_to => outbox.clock() - interval '89900 s')$$, 1200),
  ('of nobody', $$select outbox.list_messages('few')$$, 200),
  ('one', $$select outbox.get_message('many', (select min(id)::text from outbox.outbound_message))$$, 20),
  ('audit', $$select outbox.list_audit_events('many')$$, 200),
  ('audit of one', $$select outbox.list_audit_events('many', null, 50, 'OUTBOUND_MESSAGE', (select min(id)::text from outbox.outbound_message))$$, 20),
  ('activity', $$select outbox.list_activity('many', 'd-77')$$, 60),
  ('activity of all', $$select outbox.list_activity('many')$$, 120),
  ('activity of nobody', $$select outbox.list_activity('few')$$, 60),
  ('audit of an action', $$select outbox.list_audit_events('many', p_audit_action => 'NONE')$$, 20),
  ('by recipient', $$select outbox.list_messages('many', p_recipient => '+12025000077')$$, 60),
  ('by correlation', $$select outbox.list_messages('many', p_correlation_id => 'cart-7')$$, 20),
  -- The trail has one kind of entity: a page of another one stops at its bound.
  ('audit of a kind', $$select outbox.list_audit_events('many', p_entity_type => 'OUTBOUND_MESSAGE')$$, 200),
  ('audit of a kind behind the bound', $$select outbox.list_audit_events('many', p_entity_type => 'RARE')$$, 20100),
  ('audit of an id without its kind', $$select outbox.list_audit_events('many', p_entity_id => 'none')$$, 20100),
  ('audit by correlation', $$select outbox.list_audit_events('many', p_correlation_id => 'cart-7')$$, 20),
  ('found by correlation', $$select outbox.found_messages('many', '{}', 'cart-7', null, 50)$$, 30),
  ('by key', $$select outbox.list_messages('many', p_idempotency_key => 'key-456')$$, 20),
  ('inbound of a channel', $$select outbox.list_inbound_messages('many', p_channel_id => '00000000-0000-4000-8000-000000000001')$$, 20),
  ('created', $$select message('+12025559999', p_key => gen_random_uuid()::text, p_org_id => 'few', p_channel_id => (select b from made))$$, 60),
  ('existing', $$select helper.message_id(outbox.create_message('few', '+12025550999', '{"parameters": ["Anna"]}', 'reminder', p_idempotency_key => 'again', p_channel_id => (select b from made)))$$, 60),
  ('pending', $$SELECT * FROM outbox.outbound_message WHERE status = 'QUEUED' AND attempt_count < max_attempts ORDER BY created_at ASC LIMIT 10$$, 30),
  ('key', $$SELECT * FROM outbox.outbound_message WHERE org_id = 'many' AND idempotency_key = 'key-456'$$, 5),
  ('stale', $$SELECT * FROM outbox.outbound_message WHERE status = 'SENDING' AND updated_at < (NOW() - INTERVAL '10 minutes') ORDER BY updated_at ASC LIMIT 10$$, 30),
  ('wamid', $$SELECT * FROM outbox.outbound_message WHERE provider_message_id = 'wamid.4711'$$, 5),
  ('attempts', $$SELECT * FROM outbox.outbound_attempt WHERE outbound_message_id = 5000 ORDER BY attempt_no DESC LIMIT 1$$, 10);

create function round_of(p_name text) returns void language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform message('+120255' || 50000 + n, p_org_id => 'few', p_channel_id => made.b, p_key => p_name || n) from generate_series(1, 40) n, made;
  perform time_passes('10 s');
  v_answer := measure(p_name || ': claim', 20);
  insert into answer values (v_answer);
  perform time_passes('1 s');
  v_answer := measure(p_name || ': complete', 20, (
    select jsonb_agg(r || jsonb_build_object('status', 200, 'provider_id', 'wamid.' || (r ->> 'event'))) from jsonb_array_elements(results(v_answer, 'delivered')) r));
  insert into answer values (v_answer);
  perform time_passes('1 s');
  v_answer := measure(p_name || ': fail', 0, results(v_answer, 'failed', '{"status": 400, "code": "1"}'));
  perform use(p_name || ': adopt', format('select outbox.mark_sent_late(%L, %L)', (
    select outbox.callback_data(t.message_id, t.attempt_no) from outbox.message_attempt t where t.status = 'FAILED' order by t.id desc limit 1), 'wamid.late.' || p_name));
  perform use(p_name || ': ' || c.name, c.query) from call c;
  perform time_passes('1 day');
end
$$;

select is(a - 'nextCursor', '{"data": [], "rows": 20001}', 'a page of a kind that is rare ends at its bound')
from outbox.list_audit_events('many', p_entity_type => 'RARE') a;
select is(jsonb_path_query_array(outbox.list_audit_events('many', a ->> 'nextCursor', p_entity_type => 'RARE'), '$.data[*].entityId'), '["first"]', 'and the next goes on without a gap')
from outbox.list_audit_events('many', p_entity_type => 'RARE') a;

select round_of('stale');
select is((select count(*) from outbox.outbound_message where org_id = 'few' and status = 'SENT'), 21::bigint, 'with stale statistics messages are sent, and one is adopted');
select is_empty(format('select scanned(%L)', 'stale: ' || name), name || ' scans nothing') from call;
select is_empty(format('select scanned(%L)', 'stale: ' || c.name), c.name || ' scans nothing') from (values ('claim'), ('complete'), ('fail'), ('adopt')) c (name);

analyze outbox.outbound_message, outbox.message_attempt, outbox.audit_event, outbox.activity, outbox.inbound_message, outbox.consent, outbox.opt_out, outbox.event, outbox.delivery, outbox.lane;
select round_of('fresh');
select is((select count(*) from outbox.outbound_message where org_id = 'few' and status = 'SENT'), 42::bigint, 'and with fresh ones');
select cmp_ok(touched('fresh: ' || name), '<=', most, format('%s touches at most %s rows', name, most)) from call;
select cmp_ok(touched('fresh: ' || c.name), '<=', c.most, format('%s touches at most %s rows', c.name, c.most))
from (values ('claim', 1500::bigint), ('complete', 3000), ('fail', 1500), ('adopt', 100)) c (name, most);
select cmp_ok(pg_relation_size('outbox.outbound_message_correlation'), '<=', 16384::bigint, 'a message without a correlation id is not in the index of the search');
select is_empty($$select what, relation from usage join grown using (relation) where what like 'fresh: %' and seq_scans > 0$$, 'nothing is scanned');

select * from finish();
rollback;
