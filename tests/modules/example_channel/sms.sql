-- Module sms, needs core and messages, and works with api. It adds the channel SMS: a provider with
-- an HTTP API sends a message. endpoint.url is the provider, endpoint.config has the sender, and
-- the key is in Vault.

-- 1. The kind of endpoint, with its retry schedule.
insert into outbox.endpoint_kind (kind, retry, credentials_remedy, rewrite_command)
values ('sms', '{"strategy": "schedule", "delays": [2, 60, 300], "max_retries": 3,
    "jitter": false}',
  'set_sms_key() sets it again', $$outbox.set_sms_key(%2$L, '<the key>')$$);

-- 2. The kind of channel: its name in messages, and what checks a payload.
insert into outbox.channel_kind (channel, kind, check_function) values
  ('SMS', 'sms', 'outbox.check_sms');

-- 3. What failures mean. of_recipient: the message has failed, and nobody can correct it.
insert into outbox.failure_rule (kind, code, action, min_delay_s, title, of_recipient) values
  ('sms', 'invalid_number', 'fail', 0, 'The number takes no SMS', true),
  ('sms', 'invalid_key', 'hold', 0, 'The key is not valid', false),
  ('sms', 'rate_limited', 'throttle', 1, 'Too many messages', false);

-- 4. Creating a channel.
create function outbox.check_sms(p_payload jsonb) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if pg_catalog.jsonb_typeof(p_payload -> 'text') is distinct from 'string'
    or pg_catalog.length(p_payload ->> 'text') not between 1 and 1600
  then
    perform outbox.invalid('payloadJson.text', 'is not a text of 1 to 1600 characters',
      'Expected {"text": "…"}');
  end if;
end
$$;
comment on function outbox.check_sms(jsonb) is
  'Raises OH001 unless a payload is {"text": 1 to 1600 characters}.';

create function outbox.put_sms_key(p_endpoint_id uuid, p_key text) returns void
language plpgsql set search_path = ''
as $$
begin
  -- The sender writes it into a header.
  if coalesce(p_key, '') !~ '^[\x21-\x7e]{1,200}$' then
    perform outbox.invalid('key', 'is not 1 to 200 visible ASCII characters',
      'Copy the key of the provider again');
  end if;
  perform outbox.put_credentials(p_endpoint_id, pg_catalog.jsonb_build_object('key', p_key));
end
$$;
comment on function outbox.put_sms_key(uuid, text) is
  'Stores the key of an SMS channel in Vault. OH001.';

create function outbox.create_sms_channel(
  p_org_id text,
  p_url text,
  p_sender text,
  p_key text,
  p_pair_seconds double precision default 1
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_user_org(p_org_id);
  perform outbox.check_endpoint_limit(p_org_id);
  if p_sender is null or p_sender !~ '^[A-Za-z0-9+]{3,15}$' then
    perform outbox.invalid('sender', 'is not 3 to 15 letters and digits',
      'Expected the name or the number that the recipient sees');
  end if;
  perform outbox.check_range('pairSeconds', p_pair_seconds, 0, 3600);
  -- Ordered by recipient: one lane for each, which waits lane_spacing_ms after a message.
  insert into outbox.endpoint (org_id, kind, url, ordering, quantum, lane_spacing_ms, config,
    created_at, updated_at)
  values (p_org_id, 'sms', outbox.check_url(p_url), 'partition', 1, p_pair_seconds * 1000,
    pg_catalog.jsonb_build_object('sender', p_sender), v_now, v_now)
  returning id into v_id;
  perform outbox.put_sms_key(v_id, p_key);
  perform outbox.add_message_channel(v_id);
  perform outbox.add_gate(v_id, 'partition');
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_sms_channel(text, text, text, text, double precision) is
  'Creates an SMS channel of an organisation: {"id"}. p_pair_seconds: the time between two '
  'messages to one recipient. OH001.';

create function outbox.set_sms_key(p_endpoint_id uuid, p_key text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if (outbox.lock_endpoint(p_endpoint_id)).kind <> 'sms' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind sms', p_endpoint_id),
      hint = 'create_sms_channel() creates one';
  end if;
  perform outbox.put_sms_key(p_endpoint_id, p_key);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  return pg_catalog.jsonb_build_object('id', p_endpoint_id);
end
$$;
comment on function outbox.set_sms_key(uuid, text) is
  'Gives an SMS channel another key, from the next claim on: {"id"}. OH001, OH002, OH004.';

-- 5. What the provider reports later. A webhook receiver of the installation calls this function.
create function outbox.report_sms(
  p_channel_id uuid, p_provider_id text, p_status text, p_code text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('status', outbox.report_status(p_channel_id,
    p_provider_id, p_status, p_code => p_code, p_error => 'The provider could not deliver it'));
end
$$;
comment on function outbox.report_sms(uuid, text, text, text) is
  'Applies a report of the provider about an SMS, delivered or failed: {"status": of the message, '
  'or unknown}. OH001.';

-- 6. The rights. Nobody may call the other functions.
select outbox.close_new();

grant execute on function
  outbox.create_sms_channel(text, text, text, text, double precision),
  outbox.set_sms_key(uuid, text),
  outbox.report_sms(uuid, text, text, text)
to service_role;
