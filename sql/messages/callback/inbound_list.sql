create function outbox.inbound_json(p_message outbox.inbound_message) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_message.id::text, 'channelId', p_message.channel_id,
    'personId', p_message.person_id::text,
    'senders', outbox.recipients_json(p_message.person_id),
    'type', p_message.type, 'text', p_message.text, 'replyTo', p_message.reply_to::text,
    'sentAt', outbox.iso_time(p_message.sent_at),
    'receivedAt', outbox.iso_time(p_message.received_at),
    'erasedAt', outbox.iso_time(p_message.erased_at));
end
$$;
comment on function outbox.inbound_json(outbox.inbound_message) is
  'An inbound message in the form of the API: {"id", "channelId", "personId", "senders": the '
  'identifiers of the person, "type", "text", "replyTo": the message that it replies to, "sentAt", '
  '"receivedAt", "erasedAt"}.';

create function outbox.list_inbound_messages(
  p_org_id text, p_cursor text default null, p_limit integer default 50,
  p_recipient text default null, p_channel_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below bigint := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$')::bigint;
  v_person bigint;
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  if p_recipient is not null then
    -- 0: nobody has this number, so nothing is found.
    v_person := coalesce(
      outbox.find_person(p_org_id, outbox.check_identifier(p_recipient)), 0);
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.inbound_json(p.found) order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor((p.found).id::text)) filter (where p.n = p_limit) end)
  into v_result
  from (
    select m as found, pg_catalog.row_number() over (order by m.id desc) as n
    from outbox.inbound_message m
    where m.org_id = p_org_id
      and (v_below is null or m.id < v_below)
      and (v_person is null or m.person_id = v_person)
      and (p_channel_id is null or m.channel_id = p_channel_id)
    order by m.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_inbound_messages(text, text, integer, text, uuid) is
  'The inbound messages of an organisation, of one person (p_recipient: any of its identifiers) or '
  'of one channel, newest first: {"data": [inbound_json()], "nextCursor"}. OH001.';
