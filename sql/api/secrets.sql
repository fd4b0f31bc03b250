-- The signing secrets of an endpoint over the HTTP API. No function returns a private key.

create function outbox.org_secret_json(p_read jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('secret', p_read -> 'secret',
    'publicKey', p_read -> 'public_key',
    'secrets', (
      select pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('id', s.value -> 'secret_id',
          'scheme', s.value -> 'scheme', 'publicKey', s.value -> 'public_key',
          'createdAt', outbox.iso_time((s.value ->> 'created_at')::timestamptz),
          'expiresAt', outbox.iso_time((s.value ->> 'expires_at')::timestamptz))
        order by s.ordinality)
      from pg_catalog.jsonb_array_elements(p_read -> 'secrets')
        with ordinality as s (value, ordinality)
    ));
end
$$;
comment on function outbox.org_secret_json(jsonb) is
  'The result of endpoint_secrets() in the form of the API: see get_org_secret().';

create function outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  return outbox.org_secret_json(outbox.read_secret(p_endpoint_id));
end
$$;
comment on function outbox.get_org_secret(text, uuid) is
  'The secrets of a webhook: {"secret" and "publicKey", for verification, "secrets": all that '
  'sign}. OH002, OH004.';

create function outbox.rotate_org_secret(
  p_org_id text, p_endpoint_id uuid, p_secret text default null,
  p_overlap_seconds integer default 86400, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  -- The key comes first: a repeat succeeds also after the endpoint was deleted.
  v_stored jsonb := outbox.begin_request(p_org_id,
    'POST /endpoints/{endpointId}/secret/rotate', p_key,
    pg_catalog.jsonb_build_array(p_endpoint_id, p_secret, p_overlap_seconds));
  v_result jsonb;
begin
  if v_stored is not null and not exists (
    select from outbox.endpoint e where e.id = p_endpoint_id and e.status <> 'deleted')
  then
    return v_stored;
  end if;
  if v_stored is not null then
    return outbox.get_org_secret(p_org_id, p_endpoint_id);
  end if;
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.rotate_secret(p_endpoint_id, p_secret,
    pg_catalog.make_interval(secs => p_overlap_seconds));
  v_result := outbox.org_secret_json(outbox.endpoint_secrets(p_endpoint_id));
  -- No secret is stored here: a repeat reads it from Vault.
  perform outbox.end_request(p_org_id, p_key, v_result - 'secret');
  return v_result;
end
$$;
comment on function outbox.rotate_org_secret(text, uuid, text, integer, text) is
  'Replaces a secret as rotate_secret() does, once for each p_key, and returns get_org_secret(); a '
  'repeat after the endpoint was deleted returns the first response without the secret. '
  'p_overlap_seconds 0: requests are no longer signed with an older secret of the scheme. OH001, '
  'OH002, OH003, OH004.';

create function outbox.expire_org_secret(
  p_org_id text, p_endpoint_id uuid, p_secret_id uuid
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform from outbox.endpoint_secret s
  where s.id = p_secret_id and s.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('secret %s does not exist', p_secret_id),
      hint = 'Use the id of a secret from the list of secrets of this endpoint';
  end if;
  perform outbox.expire_secret(p_secret_id);
  return outbox.org_secret_json(outbox.endpoint_secrets(p_endpoint_id));
end
$$;
comment on function outbox.expire_org_secret(text, uuid, uuid) is
  'Expires a replaced secret at once, and returns get_org_secret(). OH002, OH004.';
