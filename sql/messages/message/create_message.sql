-- Creates messages. A refusal is a result and not an error, because an error would roll back its
-- row in the audit trail. It does not use up the idempotency key, so the same call can succeed
-- later, for example after consent is granted.
--
-- The key is checked before everything else. The check compares the arguments as given, not what
-- they resolve to. So a repeat returns the same message, also if the default channel, a limit, a
-- template or a consent has changed since, or the channel was deleted.

create function outbox.check_message(p_message outbox.outbound_message) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_has_templates boolean := (
    select k.has_templates from outbox.channel_kind k where k.channel = p_message.channel);
begin
  perform outbox.check_user_org(p_message.org_id);
  perform outbox.check_choice('channel', p_message.channel, outbox.channel_names());
  perform outbox.check_recipient(p_message.to_recipient);
  if p_message.dossier_id is not null then
    perform outbox.check_dossier(p_message.dossier_id);
  end if;
  if p_message.idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('Idempotency-Key', 'is not 1 to 255 visible ASCII characters',
      'Use an id without spaces, or leave it out');
  end if;
  if p_message.correlation_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('correlationId', 'is not 1 to 128 visible ASCII characters',
      'Use an id without spaces, or leave it out');
  end if;
  if pg_catalog.jsonb_typeof(p_message.payload_json) is distinct from 'object' then
    perform outbox.invalid('payloadJson', 'is not a JSON object',
      'Expected the template''s parameters, or without a template something like '
      '{"type": "text", "text": "…"}');
  elsif pg_catalog.octet_length(p_message.payload_json::text) > 65536 then
    perform outbox.invalid('payloadJson', 'has more than 65536 bytes', 'Send a link instead');
  elsif v_has_templates and p_message.template_code is null
    and not p_message.payload_json ? 'type'
  then
    perform outbox.invalid('payloadJson.type', 'is missing',
      'Without a templateCode, give the type of the message, such as text');
  elsif p_message.template_code is not null and not v_has_templates then
    perform outbox.invalid('templateCode', 'is not used by this channel', 'Leave it out');
  end if;
  perform outbox.check_payload(p_message.channel, p_message.payload_json);
end
$$;
comment on function outbox.check_message(outbox.outbound_message) is
  'Raises OH001 for the first invalid field of a new message.';

create function outbox.message_hash(p_message outbox.outbound_message) returns bytea
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.jsonb_build_array(p_message.dossier_id, p_message.channel, p_message.channel_id,
      p_message.to_recipient, p_message.template_code, p_message.payload_json)::text, 'UTF8'));
end
$$;
comment on function outbox.message_hash(outbox.outbound_message) is
  'SHA-256 of the fields that must be equal in two calls with one idempotency key, as the caller '
  'gave them: channel_id is null for the default channel.';

create function outbox.find_message_by_key(
  p_message outbox.outbound_message
) returns outbox.outbound_message
language plpgsql volatile set search_path = ''
as $$
declare
  v_existing outbox.outbound_message;
begin
  select * into v_existing from outbox.outbound_message m
  where m.org_id = p_message.org_id and m.idempotency_key = p_message.idempotency_key;
  if v_existing.id is not null and v_existing.content <> p_message.content then
    raise exception using errcode = 'OH003',
      message = 'Idempotency-Key was used for a message with other content',
      detail = pg_catalog.format('It belongs to message %s', v_existing.id),
      hint = 'Use a new key for a new message';
  end if;
  return v_existing;
end
$$;
comment on function outbox.find_message_by_key(outbox.outbound_message) is
  'The existing message with this message''s idempotency key, or null. OH003: that message has '
  'other content.';

create function outbox.create_message(
  p_org_id text,
  p_to text,
  p_payload jsonb,
  p_template_code text default null,
  p_dossier_id text default null,
  p_idempotency_key text default null,
  p_channel text default 'WHATSAPP',
  p_channel_id uuid default null,
  p_actor text default null,
  p_correlation_id text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message;
  v_existing outbox.outbound_message;
  v_check outbox.sending_check;
begin
  v_message.org_id := p_org_id;
  v_message.dossier_id := p_dossier_id;
  v_message.channel := p_channel;
  v_message.to_recipient := p_to;
  v_message.template_code := p_template_code;
  v_message.payload_json := p_payload;
  v_message.idempotency_key := coalesce(p_idempotency_key, pg_catalog.gen_random_uuid()::text);
  v_message.created_by := p_actor;
  v_message.correlation_id := p_correlation_id;
  v_message.channel_id := p_channel_id;
  v_message.content := outbox.message_hash(v_message);
  v_existing := outbox.find_message_by_key(v_message);
  if v_existing.id is not null then
    return pg_catalog.jsonb_build_object('outcome', 'existing',
      'message', outbox.message_json(v_existing));
  end if;
  perform outbox.check_message(v_message);
  v_message.channel_id := outbox.find_channel(p_org_id, p_channel, p_channel_id);
  v_message.category := 'SERVICE';
  if p_template_code is not null then
    select t.category into v_message.category from outbox.template t
    where t.org_id = p_org_id and t.code = p_template_code;
    if not found then
      perform outbox.invalid('templateCode', 'is not a template of this organisation',
        'Create it with put_template()');
    end if;
  end if;
  v_message.recipient_hash := outbox.person_key(p_to);
  v_check := outbox.check_sending(v_message, v_now);
  if v_check.refusal is not null then
    perform outbox.audit_refusal(v_message, v_check.refusal, p_actor, v_now);
    return pg_catalog.jsonb_build_object('outcome', 'blocked', 'code', v_check.refusal,
      'reason', outbox.refusal_text(v_check.refusal));
  end if;
  return outbox.put_message(v_message, coalesce(v_check.lane_keys[1], v_message.recipient_hash),
    v_now);
end
$$;
comment on function outbox.create_message(
  text, text, jsonb, text, text, text, text, uuid, text, text) is
  'Queues a message in the caller''s transaction. Returns {"outcome": "created" | "existing" (a '
  'repeated call with the same key and content), "message": as message_json()}, or {"outcome": '
  '"blocked", "code": "consent_required" | "opted_out" | "outside_window", "reason"}. A blocked '
  'message is audited and does not use up the key. p_payload: the template''s parameters, or '
  '{"type", …} without p_template_code. p_correlation_id: your own text for related messages and '
  'events; the events of the message have it too. OH001; OH002: the channel does not exist; OH003: '
  'the key was used for other content.';

create function outbox.put_message(
  p_message outbox.outbound_message, p_lane_key text, p_now timestamptz
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_message outbox.outbound_message := p_message;
  v_at timestamptz := outbox.event_time();
begin
  insert into outbox.outbound_message as m (
    org_id, dossier_id, channel, to_recipient, template_code, payload_json, idempotency_key,
    channel_id, event_id, content, category, created_by, created_at, updated_at, recipient_hash,
    correlation_id)
  values (
    p_message.org_id, p_message.dossier_id, p_message.channel, p_message.to_recipient,
    p_message.template_code, p_message.payload_json, p_message.idempotency_key,
    p_message.channel_id, outbox.uuid_v7(v_at), p_message.content, p_message.category,
    p_message.created_by, p_now, p_now, p_message.recipient_hash, p_message.correlation_id)
  on conflict (org_id, idempotency_key) do nothing
  returning * into v_message;
  if not found then
    return pg_catalog.jsonb_build_object('outcome', 'existing',
      'message', outbox.message_json(outbox.find_message_by_key(p_message)));
  end if;
  perform outbox.publish_message(v_message, p_lane_key, v_at);
  perform outbox.count_message('QUEUED');
  perform outbox.audit_message(v_message, 'CREATED', 'Message created', v_message.created_by,
    p_now);
  return pg_catalog.jsonb_build_object('outcome', 'created',
    'message', outbox.message_json(v_message));
end
$$;
comment on function outbox.put_message(outbox.outbound_message, text, timestamptz) is
  'Stores a new message and publishes its event with p_lane_key. Returns the result of '
  'create_message().';

create function outbox.publish_message(
  p_message outbox.outbound_message, p_lane_key text, p_at timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_event outbox.event := outbox.new_event(p_at, 'outhook.message',
    pg_catalog.json_build_object('messageId', p_message.id::text)::text, p_message.org_id,
    p_lane_key, p_message.correlation_id, null, p_message.channel_id, null, null);
begin
  v_event.id := p_message.event_id;
  perform outbox.put_event(v_event, true);
  perform outbox.kick_on_commit();
end
$$;
comment on function outbox.publish_message(outbox.outbound_message, text, timestamptz) is
  'Publishes the current event of a message, with the correlation id of the message. p_at: the '
  'event_time() of the event''s id. Its partition key is the first lane key of the person, or '
  'person_key() of a number of which nothing else is known.';
