create function outbox.store_in_vault(p_field text, p_secret text) returns uuid
language plpgsql volatile set search_path = ''
as $$
begin
  -- The value is sent in an HTTP header.
  if p_secret is null or p_secret !~ '^[\x21-\x7e]+$' or pg_catalog.length(p_secret) > 2048
  then
    perform outbox.invalid(p_field, 'is empty, longer than 2048 characters or not visible ASCII',
      'Copy it from Meta''s dashboard again');
  end if;
  return vault.create_secret(p_secret);
end
$$;
comment on function outbox.store_in_vault(text, text) is
  'Stores a secret in Vault and returns its id. OH001, without the secret.';

create function outbox.set_channel_token(
  p_org_id text, p_channel_id uuid, p_access_token text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_old uuid;
begin
  select c.token_vault_id into v_old from outbox.whatsapp_channel c where c.endpoint_id = v_id;
  update outbox.whatsapp_channel c
  set token_vault_id = outbox.store_in_vault('accessToken', p_access_token)
  where c.endpoint_id = v_id;
  delete from vault.secrets v where v.id = v_old;
  perform outbox.release_unreadable(v_id);
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'SECRET_ROTATED', 'Access token replaced',
    p_actor, v_now);
  return outbox.channel_json(v_id);
end
$$;
comment on function outbox.set_channel_token(text, uuid, text, text) is
  'Replaces the access token of a channel, from the next claim on. A held channel stays held '
  'until resume_endpoint(), unless it was held because its token could not be read. OH001, OH002.';

create or replace function outbox.more_secrets(p_endpoint_id uuid)
returns table (vault_id uuid, what text, remedy text)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select c.token_vault_id, 'the access token', 'set_channel_token() sets it again'
  from outbox.whatsapp_channel c where c.endpoint_id = p_endpoint_id;
end
$$;

create or replace function outbox.release_first(p_endpoint outbox.endpoint) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_graph_url constant text := 'https://graph.facebook.com';
  v_set_token constant text := pg_catalog.format('outbox.set_channel_token(%L, %L, %L)',
    p_endpoint.org_id, p_endpoint.id, '<the new token>');
  v_token boolean;
  v_blocked boolean;
begin
  if p_endpoint.status_reason like 'unreadable: %' then
    return case
      when p_endpoint.status_reason like 'unreadable: the access token%' then v_set_token
    end;
  end if;
  -- From all holds, because status_reason names only the first. The text of a hold is its rule's
  -- code and title.
  select pg_catalog.bool_or(f.new_token), pg_catalog.bool_or(f.code = 'blocked')
  into v_token, v_blocked
  from outbox.channel_hold h
  join outbox.failure_rule f on f.kind = 'whatsapp'
    and h.why = pg_catalog.split_part(f.code, '.', 1) || ' ' || f.title
  where h.channel_id = p_endpoint.id and h.held;
  return nullif(
    pg_catalog.concat_ws(', ',
      case when v_token then v_set_token end,
      case
        when v_blocked and outbox.setting_value('whatsapp.graph_url') #>> '{}' <> v_graph_url
        then pg_catalog.format('outbox.set_setting(%L, %L)', 'whatsapp.graph_url',
          pg_catalog.to_jsonb(v_graph_url))
      end),
    '');
end
$$;
