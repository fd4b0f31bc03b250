-- A report that came before the response and cannot be applied: the response is stored, otherwise the message is sent again.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(5);

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

create temporary table made as select fax() as a;
select time_passes('1 second'), send_fax();
create temporary table early as select step() as answer;
create temporary table first_channel as select (answer #>> '{deliveries,0,endpoint}')::uuid as id from early;
select is(outbox.report_status(id, 'fax-7', 'read'), 'unknown', 'early') from first_channel;
create function refuse_line() returns trigger language plpgsql as $$ begin raise exception 'no such line'; end $$;
create trigger refuse_line before insert on outbox.audit_event for each row when (new.details like 'Delivery status updated%') execute function helper.refuse_line();
select step(0, (select jsonb_agg(r || '{"status": 200, "provider_id": "fax-7"}') from early, jsonb_array_elements(results(answer, 'delivered')) r));
select is((select string_agg(m.status || ' ' || coalesce(m.provider_message_id, 'no id'), ',') from outbox.outbound_message m), 'SENT fax-7', 'the response is recorded although its early report cannot be');
select is((select string_agg(step || ' ' || error, ',') from outbox.refusal), null, 'the result is not refused');
select is((select task || ' ' || member || ' ' || error from outbox.upkeep_refusal), 'outbox.apply_early_reports report read of message fax-7 no such line', 'the error is shown');
select is((select count(*)::integer from outbox.early_report), 1, 'the report stays');
select * from finish();
rollback;
