-- What the tests of messages share besides _helpers.sql and _engine.sql: a channel, a template and a
-- message in one word each.
set local search_path = helper, extensions;

create function channel(
  p_org_id text default 'default', p_number_id text default '100000000000001', p_app_id text default '900000000000001'
) returns uuid language plpgsql as $$
begin
  perform outbox.put_whatsapp_app(p_app_id, 'app-secret')
  where not exists (select from outbox.whatsapp_app where app_id = p_app_id);
  return outbox.create_channel(p_org_id, p_number_id, '200000000000001', p_app_id, 'token-' || p_number_id) ->> 'id';
end
$$;

create function template(p_code text default 'reminder', p_category text default 'UTILITY', p_org_id text default 'default')
returns text language sql as $$
  select outbox.put_template(p_org_id, p_code, 'appointment_reminder', 'fr', p_category) ->> 'code'
$$;

create function message(
  p_to text default '+12025550111', p_key text default null, p_dossier text default null, p_org_id text default 'default',
  p_template text default 'reminder', p_payload jsonb default '{"parameters": ["Anna"]}', p_channel_id uuid default null,
  p_correlation_id text default null
) returns jsonb language sql as $$
  select outbox.create_message(p_org_id, p_to, p_payload, p_template, p_dossier, p_key, p_channel_id => p_channel_id, p_actor => 'tester',
    p_correlation_id => p_correlation_id)
$$;

create function message_id(p_answer jsonb) returns bigint language sql as $$ select (p_answer -> 'message' ->> 'id')::bigint $$;

create function row_of(p_id bigint) returns outbox.outbound_message language sql stable as $$
  select m from outbox.outbound_message m where m.id = p_id
$$;

-- The audit trail of an entity in order, as 'ACTION details'.
create function trail(p_type text, p_id text) returns text[] language sql stable as $$
  select array(select action || ' ' || details from outbox.audit_event where entity_type = p_type and entity_id = p_id order by id)
$$;

-- Claims what is due and has WhatsApp take it under an id that names the event.
create function take_all() returns integer language plpgsql as $$
declare
  v_answer jsonb := helper.step();
begin
  perform helper.step(0, coalesce((
    select jsonb_agg(r || jsonb_build_object('status', 200, 'provider_id', 'wamid.' || (r ->> 'event') || (r ->> 'attempt'),
      'provider', jsonb_build_object('wa_id', (select ltrim(m.to_recipient, '+') from outbox.outbound_message m where m.event_id::text = r ->> 'event'))))
    from jsonb_array_elements(helper.results(v_answer, 'delivered')) r), '[]'));
  return helper.claimed(v_answer);
end
$$;
