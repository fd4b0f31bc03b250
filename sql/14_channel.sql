-- Channels: the business numbers that messages are sent from. A channel is an endpoint of kind
-- whatsapp and has its gate, lanes, rate, breaker and states; here is what only a channel has. Its
-- events are addressed to it, so it has no subscription. Order is by partition, which is the
-- recipient: one lane a person, whose lane_spacing_ms keeps the pair limit of WhatsApp.

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
  'What a whatsapp endpoint has beside the endpoint: Meta''s ids of its number and account, the '
  'app, and the access token in Vault. Deliveries read it; a held channel is a paused endpoint. '
  'messages_per_second is WhatsApp''s limit, of which the endpoint''s rate uses most; '
  'graph_version is for this number alone, else the setting''s; display_digits is the number '
  'itself, as its callbacks show it.';
create unique index whatsapp_channel_default on outbox.whatsapp_channel (org_id)
  where is_default;
create index whatsapp_channel_org on outbox.whatsapp_channel (org_id, created_at);
create index whatsapp_channel_account on outbox.whatsapp_channel (waba_id);

create table outbox.conversation_window (
  channel_id uuid not null,
  recipient text not null,
  expires_at timestamptz not null,
  primary key (channel_id, recipient)
);
comment on table outbox.conversation_window is
  'Until when a person may be sent what is no template: 24 hours from their last message to that '
  'number. recipient is E.164 with its +.';

create function outbox.keep_in_vault(p_field text, p_secret text) returns uuid
language plpgsql volatile set search_path = ''
as $$
begin
  -- What goes into a header, so nothing that a header cannot hold.
  if p_secret is null or p_secret !~ '^[\x21-\x7e]+$' or pg_catalog.length(p_secret) > 2048
  then
    perform outbox.invalid(p_field, 'is empty, too long or not visible ASCII',
      'Copy it from Meta''s dashboard again');
  end if;
  return vault.create_secret(p_secret);
end
$$;
comment on function outbox.keep_in_vault(text, text) is
  'Puts a secret into Vault and returns its id there. OH001, which never shows it.';

create type outbox.pace as (
  rate_per_second double precision,
  rate_burst integer,
  max_in_flight integer
);
comment on type outbox.pace is 'How fast a channel may go, as its endpoint has it.';

create function outbox.pace_of(p_messages_per_second double precision) returns outbox.pace
language plpgsql immutable set search_path = ''
as $$
declare
  v_rate constant double precision := p_messages_per_second * 0.965;
begin
  -- The burst is what a run may claim a quarter of a second ahead, so that a late look costs
  -- nothing; with_messages() says when each is sent, so that none comes in a burst.
  return row(v_rate, 1 + pg_catalog.floor(v_rate / 4)::integer,
    greatest(200, pg_catalog.ceil(v_rate)::integer))::outbox.pace;
end
$$;
comment on function outbox.pace_of(double precision) is
  'The pace of a channel under a limit of WhatsApp: 96.5 % of it, evenly.';

create function outbox.create_channel(
  p_org_id text,
  p_phone_number_id text,
  p_waba_id text,
  p_app_id text,
  p_access_token text,
  p_description text default '',
  p_messages_per_second double precision default 80,
  p_pair_seconds double precision default 6
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  if p_phone_number_id is null or p_phone_number_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('phoneNumberId', 'is not Meta''s id of a number',
      'Expected the digits that the dashboard shows under the number, not the number itself');
  end if;
  if p_waba_id is null or p_waba_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('wabaId', 'is not Meta''s id of an account', 'Expected digits');
  end if;
  if not exists (select from outbox.whatsapp_app a where a.app_id = p_app_id) then
    perform outbox.invalid('appId', 'is not a Meta app that is known here',
      'put_whatsapp_app() makes it known');
  end if;
  perform outbox.check_range('messagesPerSecond', p_messages_per_second, 1, 1000);
  perform outbox.check_range('pairSeconds', p_pair_seconds, 0, 3600);
  -- A turn takes one row of each recipient, so that the next one waits for lane_spacing_ms.
  insert into outbox.endpoint (org_id, kind, url, description, timeout_ms, ordering, quantum,
    max_in_flight, rate_per_second, rate_burst, lane_spacing_ms, created_at, updated_at)
  select p_org_id, 'whatsapp', '', coalesce(p_description, ''), 20000, 'partition', 1,
    p.max_in_flight, p.rate_per_second, p.rate_burst, p_pair_seconds * 1000, v_now, v_now
  from outbox.pace_of(p_messages_per_second) p
  returning id into v_id;
  insert into outbox.whatsapp_channel (endpoint_id, org_id, phone_number_id, waba_id, app_id,
    token_vault_id, is_default, messages_per_second, created_at)
  values (v_id, p_org_id, p_phone_number_id, p_waba_id, p_app_id,
    outbox.keep_in_vault('accessToken', p_access_token),
    not exists (
      select from outbox.whatsapp_channel c where c.org_id = p_org_id and c.is_default),
    p_messages_per_second, v_now);
  perform outbox.add_gate(v_id, 'partition');
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'CREATED', 'Channel created', null, v_now);
  return outbox.channel_json(v_id);
exception when unique_violation then
  raise exception using errcode = 'OH001',
    message = 'phoneNumberId belongs to a channel already', detail = 'phoneNumberId',
    hint = 'A number has one channel, of one organisation: use that, or delete it first';
end
$$;
comment on function outbox.create_channel(
  text, text, text, text, text, text, double precision, double precision) is
  'Makes a WhatsApp channel, the default one if the org has none, as channel_json() shows it. '
  'p_messages_per_second and p_pair_seconds are WhatsApp''s limits for the number, and for one '
  'recipient. OH001.';

create function outbox.channel_json(p_channel_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'orgId', e.org_id, 'channel', 'WHATSAPP',
      'description', e.description, 'phoneNumberId', c.phone_number_id, 'wabaId', c.waba_id,
      'appId', c.app_id, 'isDefault', c.is_default, 'quality', c.quality,
      'state', e.state, 'stateReason', e.state_reason,
      'messagesPerSecond', c.messages_per_second, 'graphVersion', c.graph_version,
      'pairSeconds', e.lane_spacing_ms / 1000::float8, 'version', e.version,
      'createdAt', outbox.iso_time(e.created_at), 'updatedAt', outbox.iso_time(e.updated_at))
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id
    where c.endpoint_id = p_channel_id);
end
$$;
comment on function outbox.channel_json(uuid) is 'A channel as the API shows it.';

create function outbox.check_channel(p_org_id text, p_channel_id uuid) returns uuid
language plpgsql stable set search_path = ''
as $$
declare
  v_id uuid;
begin
  select c.endpoint_id into v_id
  from outbox.whatsapp_channel c
  join outbox.endpoint e on e.id = c.endpoint_id and e.state <> 'deleted'
  where c.org_id = p_org_id
    and case when p_channel_id is null then c.is_default else c.endpoint_id = p_channel_id end;
  if v_id is null then
    raise exception using errcode = 'OH002',
      message = case
        when p_channel_id is null
        then pg_catalog.format('organisation %s has no default channel', p_org_id)
        else pg_catalog.format('channel %s does not exist', p_channel_id)
      end,
      hint = 'create_channel() makes one; the first of an organisation is its default';
  end if;
  return v_id;
end
$$;
comment on function outbox.check_channel(text, uuid) is
  'The channel of that org, or its default one when no id is given. OH002.';

create function outbox.get_channel(p_org_id text, p_channel_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.channel_json(outbox.check_channel(p_org_id, p_channel_id));
end
$$;
comment on function outbox.get_channel(text, uuid) is
  'One channel of an org, as channel_json() shows it; without an id the default one. OH002.';

create function outbox.list_channels(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.channel_json(c.endpoint_id) order by c.created_at desc)
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id and e.state <> 'deleted'
    where c.org_id = p_org_id), '[]'));
end
$$;
comment on function outbox.list_channels(text) is
  'The channels of an org, newest first: {"data": […]}.';

create function outbox.set_channel_token(
  p_org_id text, p_channel_id uuid, p_access_token text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
  v_old uuid;
begin
  select c.token_vault_id into v_old from outbox.whatsapp_channel c
  where c.endpoint_id = v_id for update;
  update outbox.whatsapp_channel c
  set token_vault_id = outbox.keep_in_vault('accessToken', p_access_token)
  where c.endpoint_id = v_id;
  delete from vault.secrets v where v.id = v_old;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED', 'Access token replaced',
    p_actor, v_now);
  return outbox.channel_json(v_id);
end
$$;
comment on function outbox.set_channel_token(text, uuid, text, text) is
  'Replaces a channel''s access token, from the next claim on; a held channel stays held until '
  'resume_endpoint(). OH001, OH002.';

create function outbox.set_default_channel(
  p_org_id text, p_channel_id uuid, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
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
  'Makes a channel the one that messages without a channelId go through. OH002.';

create function outbox.open_window(
  p_channel_id uuid, p_recipient text, p_at timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.conversation_window as w (channel_id, recipient, expires_at)
  values (p_channel_id, p_recipient, p_at + interval '24 hours')
  on conflict (channel_id, recipient) do update
    set expires_at = greatest(w.expires_at, excluded.expires_at);
end
$$;
comment on function outbox.open_window(uuid, text, timestamptz) is
  'Notes that a person (E.164 with its +) wrote to a channel at that time: for 24 hours they may '
  'be sent what is no template.';

create function outbox.put_template(
  p_org_id text, p_code text, p_name text, p_language text, p_category text,
  p_parameter_format text default 'POSITIONAL', p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_org(p_org_id);
  if p_code is null or p_code !~ '^[A-Za-z0-9_.-]{1,128}$' then
    perform outbox.invalid('code', 'is not 1 to 128 letters, digits, _ . -',
      'Expected a code of your own, such as appointment_reminder_fr');
  end if;
  if p_name is null or p_name !~ '^[a-z0-9_]+$' or pg_catalog.length(p_name) > 512 then
    perform outbox.invalid('name', 'is not a template''s name at Meta',
      'Expected small letters, digits and _, such as appointment_reminder');
  end if;
  if p_language is null or p_language !~ '^[a-z]{2,3}(_[A-Z]{2,3}|_[A-Z][a-z]{3})?$' then
    perform outbox.invalid('language', 'is not a language code of Meta',
      'Expected something like fr or en_US');
  end if;
  perform outbox.check_choice('category', p_category,
    array['MARKETING', 'UTILITY', 'AUTHENTICATION']);
  perform outbox.check_choice('parameterFormat', p_parameter_format,
    array['POSITIONAL', 'NAMED']);
  insert into outbox.template as t (
    org_id, code, name, language, category, parameter_format, created_at, updated_at)
  values (p_org_id, p_code, p_name, p_language, p_category, p_parameter_format, v_now, v_now)
  on conflict (org_id, code) do update set
    name = excluded.name, language = excluded.language, category = excluded.category,
    parameter_format = excluded.parameter_format, updated_at = excluded.updated_at;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'UPDATED', 'Template saved', p_actor, v_now);
  return outbox.template_json(p_org_id, p_code);
end
$$;
comment on function outbox.put_template(text, text, text, text, text, text, text) is
  'Makes or changes a template, as template_json() shows it: p_code is the org''s own, p_name and '
  'p_language are Meta''s. OH001.';

create function outbox.template_json(p_org_id text, p_code text) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_json jsonb;
begin
  select pg_catalog.jsonb_build_object('code', t.code, 'name', t.name, 'language', t.language,
    'category', t.category, 'parameterFormat', t.parameter_format,
    'createdAt', outbox.iso_time(t.created_at), 'updatedAt', outbox.iso_time(t.updated_at))
  into v_json
  from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  if v_json is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('template %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_code, 140))),
      hint = 'put_template() makes one; list_templates() shows those that there are';
  end if;
  return v_json;
end
$$;
comment on function outbox.template_json(text, text) is
  'A template as the API shows it. OH002.';

create function outbox.list_templates(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.template_json(t.org_id, t.code) order by t.code)
    from outbox.template t where t.org_id = p_org_id), '[]'));
end
$$;
comment on function outbox.list_templates(text) is
  'The templates of an org by code: {"data": […]}.';

create function outbox.delete_template(
  p_org_id text, p_code text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_was jsonb := outbox.template_json(p_org_id, p_code);
begin
  delete from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'DELETED', 'Template deleted', p_actor,
    outbox.clock());
  return v_was;
end
$$;
comment on function outbox.delete_template(text, text, text) is
  'Deletes a template and returns it; messages that wait with it fail at their next try. OH002.';
