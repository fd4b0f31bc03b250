create function outbox.find_channel(
  p_org_id text, p_channel text, p_channel_id uuid
) returns uuid
language plpgsql stable set search_path = ''
as $$
declare
  v_id uuid;
begin
  if p_channel = 'WHATSAPP' then
    return outbox.check_channel(p_org_id, p_channel_id);
  end if;
  -- Endpoints of other kinds have no default: without an id, it is the first one.
  select c.endpoint_id into v_id
  from outbox.message_channel c
  join outbox.endpoint e on e.id = c.endpoint_id and e.status <> 'deleted'
  where c.org_id = p_org_id and c.channel = p_channel
    and (p_channel_id is null or c.endpoint_id = p_channel_id)
  order by c.created_at, c.endpoint_id limit 1;
  if v_id is null then
    raise exception using errcode = 'OH002',
      message = case
        when p_channel_id is null
        then pg_catalog.format('organisation %s has no channel %s', p_org_id, p_channel)
        else pg_catalog.format('channel %s does not exist', p_channel_id)
      end,
      hint = pg_catalog.format('Create an endpoint of the kind of %s', p_channel);
  end if;
  return v_id;
end
$$;
comment on function outbox.find_channel(text, text, uuid) is
  'The id of a channel of this organisation and kind; without an id the default one, or the first '
  'one if the kind has no default. OH002.';
