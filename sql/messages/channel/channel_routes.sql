-- Change, resume and delete a channel. Each writes only the rows of the channel and its endpoint,
-- waits for no run, and adds a row to the audit trail.

create function outbox.check_channel_change(p_change jsonb) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_unknown text;
begin
  select k into v_unknown from pg_catalog.jsonb_object_keys(p_change) k
  where k not in ('description', 'accessToken', 'messagesPerSecond', 'pairSeconds',
    'graphVersion', 'isDefault')
  order by k limit 1;
  if found then
    perform outbox.invalid(v_unknown, 'cannot be changed',
      'Change description, accessToken, messagesPerSecond, pairSeconds, graphVersion or '
      'isDefault');
  end if;
  if p_change ? 'messagesPerSecond' then
    perform outbox.check_range('messagesPerSecond',
      (p_change ->> 'messagesPerSecond')::float8, 1, 1000);
  end if;
  if p_change ? 'pairSeconds' then
    perform outbox.check_range('pairSeconds', (p_change ->> 'pairSeconds')::float8, 0, 3600);
  end if;
  if p_change ->> 'graphVersion' !~ '^v[1-9][0-9]{0,2}\.[0-9]$' then
    perform outbox.invalid('graphVersion', 'is not a version of the Graph API',
      'Expected something like v25.0, or null for the value of the setting');
  end if;
  if p_change -> 'isDefault' is distinct from 'true' and p_change ? 'isDefault' then
    perform outbox.invalid('isDefault', 'can only be set to true',
      'Set it for the new default channel');
  end if;
end
$$;
comment on function outbox.check_channel_change(jsonb) is
  'Raises OH001 for the first invalid member of a change.';

create function outbox.update_channel(
  p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
begin
  perform outbox.check_channel_change(p_change);
  update outbox.whatsapp_channel c set
    messages_per_second =
      coalesce((p_change ->> 'messagesPerSecond')::float8, c.messages_per_second),
    graph_version = case
      when p_change ? 'graphVersion' then p_change ->> 'graphVersion'
      else c.graph_version
    end
  where c.endpoint_id = v_id;
  update outbox.endpoint e set
    description = coalesce(p_change ->> 'description', e.description),
    rate_per_second = p.rate_per_second, rate_burst = p.rate_burst,
    max_in_flight = p.max_in_flight,
    lane_spacing_ms =
      coalesce((p_change ->> 'pairSeconds')::float8 * 1000, e.lane_spacing_ms),
    version = e.version + 1, updated_at = outbox.clock()
  from outbox.whatsapp_channel c, lateral outbox.pace_of(c.messages_per_second) p
  where e.id = v_id and c.endpoint_id = v_id;
  if p_change ? 'accessToken' then
    perform outbox.set_channel_token(p_org_id, v_id, p_change ->> 'accessToken', p_actor);
  end if;
  if p_change ? 'isDefault' then
    perform outbox.set_default_channel(p_org_id, v_id, p_actor);
  end if;
  -- A new access token alone has its row, which is refused later than those of other changes.
  if p_change - 'accessToken' <> '{}' then
    perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED',
      pg_catalog.format('Channel changed: %s', (
        select pg_catalog.string_agg(k, ', ' order by k)
        from pg_catalog.jsonb_object_keys(p_change) k)), p_actor, outbox.clock());
  end if;
  return outbox.channel_json(v_id);
end
$$;
comment on function outbox.update_channel(text, uuid, jsonb, text) is
  'Changes the members in p_change (description, accessToken, messagesPerSecond, pairSeconds, '
  'graphVersion, isDefault) from the next claim on; returns the channel as channel_json(). OH001, '
  'OH002.';

create function outbox.resume_channel(
  p_org_id text, p_channel_id uuid, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_before jsonb := outbox.channel_json(v_id);
begin
  if v_before ->> 'status' <> 'enabled' then
    perform outbox.set_endpoint_status(v_id, 'enabled', null);
    perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'RESUMED',
      pg_catalog.format('Channel resumed, which was %s',
        coalesce(v_before ->> 'statusReason', v_before ->> 'status')), p_actor, outbox.clock());
  end if;
  return outbox.channel_json(v_id);
end
$$;
comment on function outbox.resume_channel(text, uuid, text) is
  'Lifts the holds of a channel. Its waiting messages are sent at once; the hold used up none of '
  'their attempts. Returns the channel as channel_json(). OH002.';

create function outbox.delete_channel(
  p_org_id text, p_channel_id uuid, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  -- set_endpoint_status() locks the endpoint, and finds it deleted if another call was first.
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
  v_open jsonb := outbox.set_endpoint_status(v_id, 'deleted', 'deleted') -> 'open';
begin
  update outbox.whatsapp_channel c set is_default = false where c.endpoint_id = v_id;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'DELETED', 'Channel deleted', p_actor,
    outbox.clock());
  return pg_catalog.jsonb_build_object('id', v_id, 'open', v_open);
end
$$;
comment on function outbox.delete_channel(text, uuid, text) is
  'Deletes a channel: it sends nothing more, and its unsent messages fail within seconds. Then '
  'its number can be used for a new channel. Returns {"id", "open": how many messages were open}. '
  'OH002.';
