-- Messages for the HTTP API. A message of another organisation is not found (OH002).

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
    'idempotencyKey', p_message.idempotency_key, 'correlationId', p_message.correlation_id,
    'attemptCount', p_message.attempt_count, 'maxAttempts', p_message.max_attempts,
    'errorCode', p_message.error_code,
    'errorMessage', p_message.error_message, 'createdBy', p_message.created_by,
    'createdAt', outbox.iso_time(p_message.created_at),
    'updatedAt', outbox.iso_time(p_message.updated_at),
    'sentAt', outbox.iso_time(p_message.sent_at),
    'deliveredAt', outbox.iso_time(p_message.delivered_at), 'copies', p_message.copies,
    'readAt', outbox.iso_time(p_message.read_at),
    'erasedAt', outbox.iso_time(p_message.erased_at));
end
$$;
comment on function outbox.message_json(outbox.outbound_message) is
  'A message as the API returns it.';

create function outbox.parse_message_id(p_message_id text) returns bigint
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_message_id ~ '^[0-9]{1,18}$' then p_message_id::bigint else 0 end;
end
$$;
comment on function outbox.parse_message_id(text) is
  'The id of a message as a number; 0, which no message has, for an invalid text.';

create function outbox.check_message_id(
  p_org_id text, p_message_id text
) returns outbox.outbound_message
language plpgsql stable set search_path = ''
as $$
declare
  v_message outbox.outbound_message;
begin
  select * into v_message from outbox.outbound_message m
  where m.id = outbox.parse_message_id(p_message_id) and m.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('message %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_message_id, 40))),
      hint = 'Use an id from create_message() or list_messages()';
  end if;
  return v_message;
end
$$;
comment on function outbox.check_message_id(text, text) is
  'The message with this id in this organisation. OH002.';

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
  'A message as message_json() returns it, with "attempts". OH002.';

create index outbound_message_recipient on outbox.outbound_message (org_id, to_recipient, id)
where erased_at is null;

create function outbox.list_messages(
  p_org_id text,
  p_cursor text default null,
  p_limit integer default 50,
  p_dossier_id text default null,
  p_status text default null,
  p_channel text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_recipient text default null,
  p_idempotency_key text default null,
  p_correlation_id text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below bigint;
  v_above bigint := 0;
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  -- Ids grow with created_at within a minute, so these bounds limit the scan.
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
  into v_result
  from (
    select m as found, pg_catalog.row_number() over (order by m.id desc) as n
    from outbox.outbound_message m
    where m.org_id = p_org_id and m.id < v_below and m.id > v_above
      and (p_dossier_id is null or m.dossier_id = p_dossier_id)
      and (p_status is null or m.status = p_status)
      and (p_channel is null or m.channel = p_channel)
      -- The whole condition, so that the planner can use the partial index.
      and (p_recipient is null or m.to_recipient = p_recipient and m.erased_at is null)
      and (p_idempotency_key is null or m.idempotency_key = p_idempotency_key)
      and (p_correlation_id is null or m.correlation_id = p_correlation_id)
      and (p_from is null or m.created_at >= p_from)
      and (p_to is null or m.created_at < p_to)
    order by m.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_messages(
  text, text, integer, text, text, text, timestamptz, timestamptz, text, text, text) is
  'The messages of an organisation, newest first: {"data", "nextCursor"}. p_from and p_to limit '
  'the time of creation. OH001.';

create function outbox.count_messages(p_org_id text) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_most constant integer := 10000;
begin
  return (
    select pg_catalog.jsonb_object_agg(s.status, (
      select pg_catalog.count(*)
      from (
        select from outbox.outbound_message m
        where m.org_id = p_org_id and m.status = s.status
        limit v_most
      ) m))
    from pg_catalog.unnest(
      array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED']) as s (status));
end
$$;
comment on function outbox.count_messages(text) is
  'The number of messages of an organisation in each status, at most 10,000 of each: {"QUEUED": 0, '
  '…}.';
