-- Channels: the business numbers that send messages. A channel is an endpoint of kind whatsapp with
-- its own gate, lanes, rate, breaker and status. whatsapp_channel has its additional columns. Its
-- events are addressed to it, so it has no subscription. It is ordered by partition, the recipient:
-- one lane for each recipient, with lane_spacing_ms for WhatsApp's limit for a pair of numbers.

insert into outbox.endpoint_kind (kind, retry, pauses_on_hold, is_cached, managed_as, managed_at)
values
  ('whatsapp', '{"strategy": "schedule", "delays": [60, 300, 900, 3600, 21600], "max_retries": 5,
    "jitter": false}',
    -- Not cached: the token changes without a change of the endpoint.
    true, false, 'a channel', '/channels/{channelId}');
insert into outbox.channel_kind (channel, kind, has_templates, has_window) values
  ('WHATSAPP', 'whatsapp', true, true);

create table outbox.whatsapp_channel (
  endpoint_id uuid primary key,
  org_id text not null,
  phone_number_id text not null
    constraint whatsapp_channel_number_id_is_a_number check (phone_number_id ~ '^[0-9]{1,32}$'),
  waba_id text not null
    constraint whatsapp_channel_waba_is_a_number check (waba_id ~ '^[0-9]{1,32}$'),
  app_id text not null references outbox.whatsapp_app (app_id),
  token_vault_id uuid not null,
  is_default boolean not null default false,
  messages_per_second double precision not null,
  graph_version text,
  quality text,
  display_digits text,
  created_at timestamptz not null,
  constraint whatsapp_channel_of_number unique (phone_number_id)
);
comment on table outbox.whatsapp_channel is
  'The additional columns of a whatsapp endpoint: Meta''s ids of its number and account, the app, '
  'and the access token in Vault. A held channel is a paused endpoint. messages_per_second is '
  'WhatsApp''s limit; the rate of the endpoint is 96.5 % of it. graph_version overrides the '
  'setting for this number. display_digits is the number as its callbacks show it.';
create unique index whatsapp_channel_default on outbox.whatsapp_channel (org_id)
  where is_default;
create index whatsapp_channel_org on outbox.whatsapp_channel (org_id, created_at);
create index whatsapp_channel_account on outbox.whatsapp_channel (waba_id);

create table outbox.deleted_channel (
  channel_id uuid primary key,
  org_id text not null,
  phone_number_id text not null,
  waba_id text not null,
  app_id text not null,
  deleted_at timestamptz not null
);
comment on table outbox.deleted_channel is
  'Meta''s ids of deleted channels, for 60 days: WhatsApp still reports the statuses of their '
  'messages.';
create index deleted_channel_number on outbox.deleted_channel (phone_number_id, app_id);
create index deleted_channel_age on outbox.deleted_channel (deleted_at);

create function outbox.channel_json(p_channel_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'orgId', e.org_id, 'channel', 'WHATSAPP',
      'description', e.description, 'phoneNumberId', c.phone_number_id, 'wabaId', c.waba_id,
      'appId', c.app_id, 'isDefault', c.is_default, 'quality', c.quality,
      'status', e.status, 'statusReason', e.status_reason,
      'messagesPerSecond', c.messages_per_second, 'graphVersion', c.graph_version,
      'pairSeconds', e.lane_spacing_ms / 1000::float8, 'version', e.version,
      'createdAt', outbox.iso_time(e.created_at), 'updatedAt', outbox.iso_time(e.updated_at))
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id
    where c.endpoint_id = p_channel_id);
end
$$;
comment on function outbox.channel_json(uuid) is
  'A channel as the API returns it.';

create function outbox.check_channel(p_org_id text, p_channel_id uuid) returns uuid
language plpgsql stable set search_path = ''
as $$
declare
  v_id uuid;
begin
  select c.endpoint_id into v_id
  from outbox.whatsapp_channel c
  join outbox.endpoint e on e.id = c.endpoint_id and e.status <> 'deleted'
  where c.org_id = p_org_id
    and case when p_channel_id is null then c.is_default else c.endpoint_id = p_channel_id end;
  if v_id is null then
    raise exception using errcode = 'OH002',
      message = case
        when p_channel_id is null
        then pg_catalog.format('organisation %s has no default channel', p_org_id)
        else pg_catalog.format('channel %s does not exist', p_channel_id)
      end,
      hint = 'Create one with create_channel(); the first of an organisation is its default';
  end if;
  return v_id;
end
$$;
comment on function outbox.check_channel(text, uuid) is
  'The id of a channel of this organisation, or of its default channel if p_channel_id is null. '
  'OH002.';

create function outbox.lock_channel(p_org_id text, p_channel_id uuid) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
begin
  perform outbox.lock_endpoint(v_id);
  return v_id;
end
$$;
comment on function outbox.lock_channel(text, uuid) is
  'As check_channel(), and locks the row of the endpoint for a change. OH002.';

create function outbox.get_channel(p_org_id text, p_channel_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.channel_json(outbox.check_channel(p_org_id, p_channel_id));
end
$$;
comment on function outbox.get_channel(text, uuid) is
  'A channel of an organisation as channel_json() returns it; without an id the default one. '
  'OH002.';

create function outbox.list_channels(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(
      outbox.channel_json(c.endpoint_id) order by c.created_at desc, c.endpoint_id)
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id and e.status <> 'deleted'
    where c.org_id = p_org_id), '[]'));
end
$$;
comment on function outbox.list_channels(text) is
  'The channels of an organisation, newest first: {"data": […]}.';

create function outbox.set_default_channel(
  p_org_id text, p_channel_id uuid, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
begin
  update outbox.whatsapp_channel c set is_default = false
  where c.org_id = p_org_id and c.is_default;
  update outbox.whatsapp_channel c set is_default = true where c.endpoint_id = v_id;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED', 'Made the default', p_actor,
    outbox.clock());
  return outbox.channel_json(v_id);
end
$$;
comment on function outbox.set_default_channel(text, uuid, text) is
  'Makes a channel the default: messages without a channelId use it. OH002.';
