-- Creates a channel and sets its rate. WhatsApp has a limit for the number and one for each
-- recipient; a message above either limit is rejected and costs an attempt.

create type outbox.pace as (
  rate_per_second double precision,
  rate_burst integer,
  max_in_flight integer
);
comment on type outbox.pace is
  'The rate limits of the endpoint of a channel.';

create function outbox.pace_of(p_messages_per_second double precision) returns outbox.pace
language plpgsql immutable set search_path = ''
as $$
declare
  v_rate constant double precision := p_messages_per_second * 0.965;
begin
  -- A run may claim the messages of the next 0.25 s, so that a late poll costs no throughput.
  -- with_messages() sets the time of each, so they are not sent in a burst.
  return row(v_rate, 1 + pg_catalog.floor(v_rate / 4)::integer,
    greatest(200, pg_catalog.ceil(v_rate)::integer))::outbox.pace;
end
$$;
comment on function outbox.pace_of(double precision) is
  'The rate limits for a limit of WhatsApp: 96.5 % of it, evenly spaced.';

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
  perform outbox.check_user_org(p_org_id);
  if p_phone_number_id is null or p_phone_number_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('phoneNumberId', 'is not Meta''s id of a number',
      'Expected the digits below the number in the dashboard, not the number itself');
  end if;
  if p_waba_id is null or p_waba_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('wabaId', 'is not Meta''s id of an account', 'Expected digits');
  end if;
  if not exists (select from outbox.whatsapp_app a where a.app_id = p_app_id) then
    perform outbox.invalid('appId', 'is not the id of a known Meta app',
      'Add it with put_whatsapp_app()');
  end if;
  perform outbox.check_range('messagesPerSecond', p_messages_per_second, 1, 1000);
  perform outbox.check_range('pairSeconds', p_pair_seconds, 0, 3600);
  perform outbox.check_endpoint_limit(p_org_id);
  -- Quantum 1: a turn takes one message of each recipient; lane_spacing_ms delays the next.
  insert into outbox.endpoint (org_id, kind, url, description, timeout_ms, ordering, quantum,
    max_in_flight, rate_per_second, rate_burst, lane_spacing_ms, created_at, updated_at)
  select p_org_id, 'whatsapp', '', coalesce(p_description, ''), 20000, 'partition', 1,
    p.max_in_flight, p.rate_per_second, p.rate_burst, p_pair_seconds * 1000, v_now, v_now
  from outbox.pace_of(p_messages_per_second) p
  returning id into v_id;
  insert into outbox.whatsapp_channel (endpoint_id, org_id, phone_number_id, waba_id, app_id,
    token_vault_id, is_default, messages_per_second, created_at)
  values (v_id, p_org_id, p_phone_number_id, p_waba_id, p_app_id,
    outbox.store_in_vault('accessToken', p_access_token),
    not exists (
      select from outbox.whatsapp_channel c where c.org_id = p_org_id and c.is_default),
    p_messages_per_second, v_now);
  perform outbox.add_message_channel(v_id, p_phone_number_id);
  perform outbox.add_gate(v_id, 'partition');
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'CREATED', 'Channel created',
    outbox.current_actor(), v_now);
  return outbox.channel_json(v_id);
exception when unique_violation then
  raise exception using errcode = 'OH001',
    message = 'phoneNumberId already belongs to a channel', detail = 'phoneNumberId',
    hint = 'A number has one channel of one organisation: use it, or delete it first';
end
$$;
comment on function outbox.create_channel(
  text, text, text, text, text, text, double precision, double precision) is
  'Creates a WhatsApp channel and returns it as channel_json(). It is the default '
  'if the organisation has no default. p_messages_per_second and p_pair_seconds are WhatsApp''s '
  'limits for the number and for one recipient. OH001.';
