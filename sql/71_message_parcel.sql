-- What dispatch() adds to its answer where messages are among what was claimed.

create function outbox.with_messages(
  p_parcel outbox.parcel, p_claimed outbox.claimed
) returns outbox.parcel
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_messages jsonb;
  v_channels jsonb;
begin
  select pg_catalog.jsonb_object_agg(w.endpoint_id, pg_catalog.jsonb_build_object(
    'graph_url', outbox.setting_value('whatsapp.graph_url'),
    'graph_version', outbox.setting_value('whatsapp.graph_version'),
    'phone_number_id', w.phone_number_id, 'access_token', s.decrypted_secret))
  into v_channels
  from (select distinct u.id from pg_catalog.unnest(p_claimed.endpoints) as u (id)) c
  join outbox.whatsapp_channel w on w.endpoint_id = c.id
  join vault.decrypted_secrets s on s.id = w.token_vault_id;
  if v_channels is null then
    return p_parcel;
  end if;
  select pg_catalog.jsonb_object_agg(c.event_id, pg_catalog.jsonb_build_object(
    'id', m.id::text, 'callback_data', outbox.callback_data(m.id, a.attempt_no),
    'to', m.to_recipient,
    'template', (
      select pg_catalog.jsonb_build_object('name', t.name, 'language', t.language,
        'parameter_format', t.parameter_format)
      from outbox.template t where t.org_id = m.org_id and t.code = m.template_code),
    'payload', m.payload_json))
  into v_messages
  from unnest(p_claimed.events, p_claimed.attempts) as c (event_id, attempt)
  join outbox.message_attempt a on a.event_id = c.event_id and a.claim = c.attempt
  join outbox.outbound_message m on m.id = a.message_id;
  p_parcel.endpoints := (
    select pg_catalog.json_object_agg(e.key, case
      when v_channels ? e.key
      then (e.value::jsonb || pg_catalog.jsonb_build_object('channel', v_channels -> e.key))::json
      else e.value
    end)
    from pg_catalog.json_each(p_parcel.endpoints) e);
  p_parcel.events := (
    select pg_catalog.json_object_agg(e.key, case
      when v_messages ? e.key
      then (e.value::jsonb || pg_catalog.jsonb_build_object('message', v_messages -> e.key))::json
      else e.value
    end)
    from pg_catalog.json_each(p_parcel.events) e);
  return p_parcel;
end
$$;
comment on function outbox.with_messages(outbox.parcel, outbox.claimed) is
  'The parcel with each message (events[id].message: {"id", "callback_data", "to", "template", '
  '"payload"}) and each channel (endpoints[id].channel: {"graph_url", "graph_version", '
  '"phone_number_id", "access_token"}).';
