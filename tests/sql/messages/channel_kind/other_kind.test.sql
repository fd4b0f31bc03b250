-- A message channel of another kind than WhatsApp: what the module does for it, from its row in channel_kind on.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(42);

insert into outbox.endpoint_kind (kind, retry) values ('fax', '{"strategy": "fixed", "base_delay": 60, "max_retries": 3, "jitter": false}');
create function outbox.check_fax(p_payload jsonb) returns void language plpgsql as $$
begin
  if not p_payload ? 'page' then perform outbox.invalid('payloadJson.page', 'is missing', 'Give it'); end if;
end
$$;
insert into outbox.channel_kind (channel, kind, check_function) values ('FAX', 'fax', 'outbox.check_fax');
create function fax(p_org_id text default 'default') returns uuid language plpgsql as $$
declare
  v_id uuid;
begin
  insert into outbox.endpoint (org_id, kind, url, ordering, quantum, created_at, updated_at)
  values (p_org_id, 'fax', 'https://fax.example.com', 'partition', 1, outbox.clock(), outbox.clock()) returning id into v_id;
  perform outbox.add_message_channel(v_id), outbox.add_gate(v_id, 'partition');
  return v_id;
end
$$;
create function send_fax(p_to text default '+12025550111', p_payload jsonb default '{"page": "A"}', p_org_id text default 'default',
  p_channel_id uuid default null, p_dossier text default null) returns jsonb language sql as $$
  select outbox.create_message(p_org_id, p_to, p_payload, p_channel => 'FAX', p_channel_id => p_channel_id, p_dossier_id => p_dossier)
$$;

create temporary table made as select fax() as a, fax('other') as o, channel() as w, template() as code;
select time_passes('1 second');
insert into made (a) select fax();
select is(outbox.channel_names(), '{FAX,WHATSAPP}', 'there are two channels');
select is((select array_agg(c.channel || ' ' || c.org_id order by c.org_id, c.channel) from outbox.message_channel c),
  '{FAX default,FAX default,WHATSAPP default,FAX other}', 'each channel has its row');
select is((select c.account from outbox.message_channel c join made on c.endpoint_id = w), '100000000000001', 'WhatsApp''s account is the number');
select throws_ok($$select outbox.add_message_channel((outbox.create_endpoint('https://example.com/a') ->> 'id')::uuid)$$, 'OH004', null, 'a webhook is no channel');

-- Creation.
select throws_ok($$select send_fax(p_payload => '{}')$$, 'OH001', 'payloadJson.page is missing', 'its function checks the payload');
select throws_ok($$select outbox.create_message('default', '+12025550111', '{"page": 1}', 'reminder', p_channel => 'FAX')$$,
  'OH001', 'templateCode is not used by this channel', 'it has no templates');
select throws_ok($$select send_fax(p_org_id => 'third')$$, 'OH002', 'organisation third has no channel FAX', 'an organisation without one has none');
select throws_ok(format('select send_fax(p_channel_id => %L)', o), 'OH002', null, 'that of another organisation does not exist') from made where o is not null;
select throws_ok(format('select send_fax(p_channel_id => %L)', w), 'OH002', null, 'one of WhatsApp is none of FAX') from made where w is not null;
select throws_ok(format($$select outbox.create_message('default', '+12025550111', '{"parameters": ["A"]}', 'reminder', p_channel_id => %L)$$, a), 'OH002', null,
  'and one of FAX is none of WhatsApp') from made where w is not null;
select throws_ok($$select outbox.create_message('default', '+12025550111', '{}', p_channel => 'TELEX')$$, 'OH001', null, 'no other channel is known');
create temporary table sent as select (send_fax() -> 'message') as m;
select is(m ->> 'channelId', a::text, 'without an id it is the first channel') from sent, made where w is not null;
select is(m ->> 'status', 'QUEUED', 'without a window that is open') from sent;

-- The claim.
create temporary table claim as select step() as answer;
select is((select e.value -> 'message' from claim, jsonb_each(answer -> 'events') e),
  (select jsonb_build_object('id', m ->> 'id', 'callback_data', 'ob1:' || (m ->> 'id') || ':1', 'to', '+12025550111', 'wait_ms', 0,
    'template', null, 'payload', '{"page": "A"}'::jsonb) from sent), 'a run gets the message');
select is((select e.value ? 'channel' from claim, jsonb_each(answer -> 'endpoints') e), false, 'and nothing of WhatsApp');
select is((row_of((m ->> 'id')::bigint)).status, 'SENDING', 'it is being sent') from sent;
select step(0, (select jsonb_agg(r || '{"status": 200, "provider_id": "fax-1"}') from claim, jsonb_array_elements(results(answer, 'delivered')) r));
select is((row_of((m ->> 'id')::bigint)).status || ' ' || (row_of((m ->> 'id')::bigint)).provider_message_id, 'SENT fax-1', 'and sent') from sent;

-- Reports.
select is(outbox.report_status(a, 'fax-2', 'delivered'), 'unknown', 'an id that nothing has') from made where w is not null;
select is(outbox.report_status(w, 'fax-1', 'delivered'), 'unknown', 'or that another channel has') from made where w is not null;
select throws_ok(format($$select outbox.report_status(%L, 'fax-1', 'sent')$$, a), 'OH001', null, 'a status that is none') from made where w is not null;
select is(outbox.report_status(a, 'fax-1', 'delivered', '2020-01-01'), 'DELIVERED', 'it arrives') from made where w is not null;
select is(outbox.report_status(a, 'fax-1', 'read'), 'DELIVERED', 'is read') from made where w is not null;
select is(outbox.report_status(a, 'fax-1', 'failed', p_code => '7'), 'DELIVERED', 'and fails too late') from made where w is not null;
select is(array[x.delivered_at = '2020-01-01', x.read_at is not null, x.error_code is null], '{t,t,t}', 'with its times') from sent, row_of((m ->> 'id')::bigint) x;
select is(trail('OUTBOUND_MESSAGE', m ->> 'id'), array['CREATED Message created', 'SENT Message sent successfully',
  'UPDATED Delivery status updated to: delivered', 'UPDATED Delivery status updated to: read'], 'the trail has each report once') from sent;
update outbox.message_channel c set account = o.account from outbox.message_channel o, made f, made s
where o.endpoint_id = f.a and f.w is not null and c.endpoint_id = s.a and s.w is null and s.a <> f.a;
select is(outbox.report_status(a, 'fax-1', 'delivered'), 'unknown', 'a report to another channel of the same account is none of its messages')
from made where w is null and a is not null;

-- A report that comes before the response.
do $$ begin perform time_passes('1 minute'), send_fax('+12025550117'); end $$;
create temporary table early as select step() as answer;
create temporary table first_channel as select (answer #>> '{deliveries,0,endpoint}')::uuid as id from early;
select is(outbox.report_status(id, 'fax-7', 'read'), 'unknown', 'a report may come before the response with its id') from first_channel;
select is(outbox.report_status(id, 'fax-7', 'read'), 'unknown', 'also twice') from first_channel;
select is(outbox.report_status(gen_random_uuid(), 'fax-7', 'read'), 'unknown', 'of a channel that does not exist nothing is stored');
select is((select string_agg(e.provider_id || ' ' || e.status, ', ' order by e.provider_id) from outbox.early_report e where e.provider_id = 'fax-7'), 'fax-7 read', 'it is stored once');
insert into outbox.early_report (channel_id, provider_id, status, at, received_at)
select id, 'other-' || n, 'read', outbox.clock(), outbox.clock() - n * interval '1 s' from first_channel, generate_series(1, 2997) n;
select outbox.report_status(id, 'fax-8', 'read') from first_channel;
select is((select count(*) from outbox.early_report e join first_channel c on e.channel_id = c.id), 3000::bigint, 'a channel has at most 3,000 of them');
select outbox.report_status(id, 'fax-8', 'read'), outbox.report_status(id, '', 'read'), outbox.report_status(id, repeat('9', 201), 'read') from first_channel;
select is_empty($$select from outbox.upkeep_refusal r where r.task = 'outbox.keep_report'$$, 'a repeated one and one without an id take no place');
select outbox.report_status(id, 'fax-9', 'read') from first_channel;
select set_eq($$select e.provider_id from outbox.early_report e where e.provider_id ~ '^fax'$$, '{fax-1,fax-2,fax-7,fax-8,fax-9}'::text[], 'a further one is stored');
select results_eq($$select count(*), max(substr(e.provider_id, 7)::integer) from outbox.early_report e where e.provider_id ~ '^other'$$, 'values (2897::bigint, 2897)', 'instead of the oldest hundred');
select outbox.report_status(id, 'fax-' || n, 'read') from first_channel, generate_series(10, 100) n;
select is((select r.member || ' ' || r.failures from outbox.upkeep_refusal r where r.task = 'outbox.keep_report'), 'a report of channel ' || id || ' 1', 'and this is shown, once for a hundred') from first_channel;
delete from outbox.early_report e where e.provider_id <> 'fax-7';
select step(0, (select jsonb_agg(r || '{"status": 200, "provider_id": "fax-7"}') from early, jsonb_array_elements(results(answer, 'delivered')) r));
select is((select m.status from outbox.outbound_message m where m.provider_message_id = 'fax-7'), 'DELIVERED', 'and applied with the response');
do $$ begin perform time_passes('25 hours'), outbox.forget_early_reports(outbox.clock(), 100); end $$;
select is_empty('select from outbox.early_report', 'what no attempt ever has is deleted after a day');

-- A code of the provider that WhatsApp has, too.
do $$ begin perform send_fax('+12025550113'); end $$;
create temporary table refused as select step() as answer;
select step(0, (select jsonb_agg(r || '{"status": 400, "code": "131050"}') from refused, jsonb_array_elements(results(answer, 'failed')) r));
select is_empty($$select from outbox.opt_out where channel = 'WHATSAPP'$$, 'a code of FAX opts nobody out of WhatsApp');

-- Wishes.
do $$ begin perform outbox.opt_out_recipient('default', '+12025550111', 'letter', p_channel => 'FAX'); end $$;
select is(send_fax() ->> 'code', 'opted_out', 'an opt-out of FAX stops it');
select is(message() ->> 'outcome', 'created', 'and not WhatsApp');
select is(send_fax('+12025550112', p_dossier => 'd1') ->> 'code', 'consent_required', 'consent is asked for');

select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
