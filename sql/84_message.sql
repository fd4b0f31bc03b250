-- Messages as the API shows them, and what a person does to one. Each function takes the org of the
-- caller first; what belongs to another org does not exist for it (OH002).

create function outbox.message_json(p_message outbox.outbound_message) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_message.id::text, 'orgId', p_message.org_id, 'dossierId', p_message.dossier_id,
    'channel', p_message.channel, 'channelId', p_message.channel_id,
    'to', p_message.to_recipient, 'templateCode', p_message.template_code,
    'payloadJson', p_message.payload_json, 'category', p_message.category,
    'status', p_message.status, 'providerMessageId', p_message.provider_message_id,
    'idempotencyKey', p_message.idempotency_key, 'attemptCount', p_message.attempt_count,
    'maxAttempts', p_message.max_attempts, 'errorCode', p_message.error_code,
    'errorMessage', p_message.error_message, 'createdBy', p_message.created_by,
    'createdAt', outbox.iso_time(p_message.created_at),
    'updatedAt', outbox.iso_time(p_message.updated_at),
    'sentAt', outbox.iso_time(p_message.sent_at),
    'deliveredAt', outbox.iso_time(p_message.delivered_at),
    'readAt', outbox.iso_time(p_message.read_at),
    'erasedAt', outbox.iso_time(p_message.erased_at));
end
$$;
comment on function outbox.message_json(outbox.outbound_message) is
  'A message as the API shows it.';

create function outbox.message_number(p_message_id text) returns bigint
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_message_id ~ '^[0-9]{1,18}$' then p_message_id::bigint else 0 end;
end
$$;
comment on function outbox.message_number(text) is
  'A message''s id from its text; 0, which none has, for what is no number.';

create function outbox.check_message_id(
  p_org_id text, p_message_id text
) returns outbox.outbound_message
language plpgsql stable set search_path = ''
as $$
declare
  v_message outbox.outbound_message;
begin
  select * into v_message from outbox.outbound_message m
  where m.id = outbox.message_number(p_message_id) and m.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('message %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_message_id, 40))),
      hint = 'create_message() returns the id of a message; list_messages() shows them';
  end if;
  return v_message;
end
$$;
comment on function outbox.check_message_id(text, text) is
  'The message of that org, or OH002.';

create function outbox.get_message(p_org_id text, p_message_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin
  return outbox.message_json(v_message) || pg_catalog.jsonb_build_object('attempts', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'attemptNo', a.attempt_no, 'status', a.status, 'errorCode', a.error_code,
        'errorMessage', a.error_message, 'providerResponse', a.provider_response,
        'providerMessageId', a.wamid, 'nextRetryAt', outbox.iso_time(a.next_retry_at),
        'createdAt', outbox.iso_time(a.created_at), 'updatedAt', outbox.iso_time(a.updated_at))
      order by a.attempt_no)
    from outbox.message_attempt a where a.message_id = v_message.id), '[]'));
end
$$;
comment on function outbox.get_message(text, text) is
  'A message as message_json() shows it, with "attempts". OH002.';

create function outbox.list_messages(
  p_org_id text,
  p_cursor text default null,
  p_limit integer default 50,
  p_dossier_id text default null,
  p_status text default null,
  p_channel text default null,
  p_from timestamptz default null,
  p_to timestamptz default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below bigint;
  v_above bigint := 0;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  -- Ids grow with the time of creation, but for what is created at the same moment: so what lies
  -- outside the time that is asked for is not walked.
  if p_from is not null then
    v_above := coalesce((
      select m.id from outbox.outbound_message m
      where m.erased_at is null and m.created_at < p_from - interval '1 minute'
      order by m.created_at desc limit 1), 0);
  end if;
  -- The cursor's uuid has the id in its last twelve digits.
  select ('x' || pg_catalog.lpad(pg_catalog.right(c.p_id, 12), 16, '0'))::bit(64)::bigint
  into v_below from outbox.read_cursor(p_cursor) c;
  if p_to is not null then
    v_below := least(v_below, (
      select m.id from outbox.outbound_message m
      where m.erased_at is null and m.created_at >= p_to + interval '1 minute'
      order by m.created_at limit 1));
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.message_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.to_cursor((p.found).created_at, '00000000-0000-0000-0000-'
        || pg_catalog.lpad(pg_catalog.to_hex((p.found).id), 12, '0')))
        filter (where p.n = p_limit) end)
  into v_answer
  from (
    select m as found, pg_catalog.row_number() over (order by m.id desc) as n
    from outbox.outbound_message m
    where m.org_id = p_org_id and m.id < v_below and m.id > v_above
      and (p_dossier_id is null or m.dossier_id = p_dossier_id)
      and (p_status is null or m.status = p_status)
      and (p_channel is null or m.channel = p_channel)
      and (p_from is null or m.created_at >= p_from)
      and (p_to is null or m.created_at < p_to)
    order by m.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;
comment on function outbox.list_messages(
  text, text, integer, text, text, text, timestamptz, timestamptz) is
  'The messages of an org, newest first: {"data", "nextCursor"}; p_from and p_to bound the time '
  'of creation. OH001.';

create function outbox.count_messages(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_object_agg(s.status, (
      select pg_catalog.count(*) from outbox.outbound_message m
      where m.org_id = p_org_id and m.status = s.status))
    from pg_catalog.unnest(
      array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED']) as s (status));
end
$$;
comment on function outbox.count_messages(text) is
  'How many messages of an org have each status: {"QUEUED": 0, …}.';

create function outbox.lock_message(
  p_org_id text, p_message_id text
) returns outbox.outbound_message
language plpgsql set search_path = ''
as $$
declare
  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[v_message.channel_id]);
  select * into v_message from outbox.outbound_message m where m.id = v_message.id for update;
  return v_message;
end
$$;
comment on function outbox.lock_message(text, text) is
  'A message of an org, locked behind its gate. OH002. locks: the gate, then the message.';

create function outbox.cancel_message(
  p_org_id text, p_message_id text, p_actor text default null, p_why text default null
) returns jsonb
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
  v_delivery outbox.delivery;
begin
  if v_message.status <> 'QUEUED' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id, v_message.status),
      hint = 'Only a message that is QUEUED can be cancelled';
  end if;
  v_message.status := 'CANCELLED';
  perform outbox.save_message(v_message, v_now);
  perform outbox.audit(p_org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'CANCELLED',
    'Message cancelled' || coalesce(': ' || p_why, ''), p_actor, v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id;
  -- Without one its event is not routed yet: the claim finds the message cancelled.
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', 'the message was cancelled', v_now);
  end if;
  return outbox.get_message(p_org_id, p_message_id);
end
$$;
comment on function outbox.cancel_message(text, text, text, text) is
  'Cancels a message that is QUEUED and returns it. OH002; OH004 when it is being sent or has '
  'ended.';

create function outbox.resend_message(
  p_org_id text, p_message_id text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
begin
  if v_message.status <> 'FAILED' or v_message.erased_at is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id,
        case when v_message.erased_at is null then v_message.status else 'erased' end),
      hint = 'Only a FAILED message whose content is still there can be sent again';
  end if;
  if exists (
    select from outbox.delivery d
    where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id)
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is being sent again', p_message_id),
      hint = 'Its dead letter was replayed: wait for what comes of it';
  end if;
  update outbox.dead_letter x set discarded_at = v_now, note = 'the message was sent again'
  where x.event_id = v_message.event_id and x.endpoint_id = v_message.channel_id
    and x.discarded_at is null;
  v_message.status := 'QUEUED';
  v_message.attempt_count := 0;
  v_message.provider_message_id := null;
  v_message.error_code := null;
  v_message.error_message := null;
  v_message.sent_at := null;
  -- A new event: it keeps its place behind what waits for this person already.
  v_message.event_id := outbox.uuid_v7(v_now);
  perform outbox.save_message(v_message, v_now);
  perform outbox.publish_message(v_message, v_now);
  perform outbox.audit(p_org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'UPDATED',
    'Sent again by ' || coalesce(p_actor, 'an operator'), p_actor, v_now);
  return outbox.get_message(p_org_id, p_message_id);
end
$$;
comment on function outbox.resend_message(text, text, text) is
  'Queues a FAILED message again, with a fresh budget and behind what waits for its recipient, and '
  'returns it; consent is asked again by the claim. OH002; OH004 when it is not FAILED, or erased.';

create function outbox.list_audit_events(
  p_org_id text, p_cursor text default null, p_limit integer default 50,
  p_entity_type text default null, p_entity_id text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'entityType', p.entity_type, 'entityId', p.entity_id,
          'action', p.action, 'details', p.details, 'actor', p.actor,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_answer
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.audit_event x
    where x.org_id = p_org_id
      and (p_cursor is null or x.id < v_below::bigint)
      and (p_entity_type is null or x.entity_type = p_entity_type)
      and (p_entity_id is null or x.entity_id = p_entity_id)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;
comment on function outbox.list_audit_events(text, text, integer, text, text) is
  'The audit trail of an org, or of one entity, newest first: {"data": [{"id", "entityType", '
  '"entityId", "action", "details", "actor", "at"}], "nextCursor"}. OH001.';

create function outbox.list_activity(
  p_org_id text, p_dossier_id text, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'dossierId', p.dossier_id, 'type', p.type, 'metadata', p.metadata,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_answer
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.activity x
    where x.org_id = p_org_id and x.dossier_id = p_dossier_id
      and (p_cursor is null or x.id < v_below::bigint)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;
comment on function outbox.list_activity(text, text, text, integer) is
  'The timeline of a dossier, newest first: {"data": [{"id", "dossierId", "type", "metadata", '
  '"at"}], "nextCursor"}. OH001.';

create function outbox.erase_messages(p_limit integer) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_ids bigint[];
begin
  v_ids := array(
    select m.id from outbox.outbound_message m
    where m.erased_at is null
      and m.created_at
        < v_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'))
      and m.status in ('SENT', 'DELIVERED', 'FAILED', 'CANCELLED')
    order by m.created_at
    limit p_limit
    for update skip locked);
  update outbox.outbound_message m set
    to_recipient = 'erased', payload_json = '{}', provider_message_id = null, wa_id = null,
    erased_at = v_now
  where m.id = any (v_ids);
  update outbox.message_attempt a set wamid = null, provider_response = null
  where a.message_id = any (v_ids);
  return pg_catalog.cardinality(v_ids);
end
$$;
comment on function outbox.erase_messages(integer) is
  'Removes payload, number and WhatsApp''s ids of up to p_limit finished messages older than '
  'message.retention_days; returns how many. What happened to them stays.';
