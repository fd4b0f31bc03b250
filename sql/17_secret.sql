-- Signing secrets. An endpoint has one of scheme v1 (HMAC, shared with the receiver) for life, and
-- one of scheme v1a (ed25519, whose private half is here alone) where it is wanted. All that have
-- not expired sign, so a rotation has an overlap in which receivers take either. All of them are in
-- Vault.

create function outbox.new_secret() returns text
language plpgsql volatile set search_path = ''
as $$
begin
  return 'whsec_' || pg_catalog.translate(
    pg_catalog.encode(extensions.gen_random_bytes(32), 'base64'), E'\n', '');
end
$$;
comment on function outbox.new_secret() is 'A new signing secret of 32 random bytes.';

-- The secret's bytes as Standard Webhooks wants them: 24 to 64, base64 behind whsec_.
create function outbox.check_secret(p_secret text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_expected constant text := 'Expected whsec_ followed by the base64 of 24 to 64 random bytes';
  v_base64 text;
  v_length integer;
begin
  if p_secret is null or p_secret = '' then
    perform outbox.invalid('secret', 'is empty', v_expected);
  elsif p_secret like 'v1,%' then
    perform outbox.invalid('secret', 'starts with v1,', v_expected || '; leave the v1, away');
  elsif p_secret not like 'whsec\_%' then
    perform outbox.invalid('secret', 'does not start with whsec_', v_expected);
  end if;
  v_base64 := pg_catalog.rtrim(pg_catalog.substr(p_secret, 7), '=');
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 behind whsec_',
      v_expected || ' in the standard alphabet');
  end if;
  v_length := pg_catalog.length(v_base64) * 3 / 4;
  if v_length not between 24 and 64 then
    perform outbox.invalid('secret', pg_catalog.format('has %s bytes', v_length), v_expected);
  end if;
  return 'whsec_' || v_base64 || pg_catalog.repeat('=', (4 - pg_catalog.length(v_base64) % 4) % 4);
end
$$;
comment on function outbox.check_secret(text) is
  'The secret in its canonical form (padded base64 behind whsec_), or OH001 that says what is '
  'expected; never shows the secret.';

create function outbox.check_signing_key(p_secret text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_expected constant text :=
    'Expected whsk_ followed by the base64 of an ed25519 key: 32 bytes of seed, 32 of public '
    'key. `deno task keypair` makes one';
  v_base64 text := pg_catalog.rtrim(pg_catalog.substr(p_secret, 6), '=');
begin
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 behind whsk_', v_expected);
  elsif pg_catalog.length(v_base64) * 3 / 4 <> 64 then
    perform outbox.invalid('secret',
      pg_catalog.format('has %s bytes behind whsk_', pg_catalog.length(v_base64) * 3 / 4),
      v_expected);
  end if;
  return 'whsk_' || v_base64 || '==';
end
$$;
comment on function outbox.check_signing_key(text) is
  'An ed25519 key in its canonical form (padded base64 behind whsk_), or OH001 that says what is '
  'expected; never shows the key.';

create function outbox.add_secret(p_endpoint_id uuid, p_secret text, p_now timestamptz) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_id uuid := pg_catalog.gen_random_uuid();
  v_is_key boolean := p_secret like 'whsk\_%';
  v_secret text := case
    when v_is_key then outbox.check_signing_key(p_secret)
    else outbox.check_secret(p_secret)
  end;
begin
  insert into outbox.endpoint_secret (id, endpoint_id, vault_id, scheme, public_key, created_at)
  values (v_id, p_endpoint_id,
          vault.create_secret(v_secret, 'outhook_endpoint_secret_' || v_id::text,
            'Signing secret of an Outhook endpoint'),
          case when v_is_key then 'v1a' else 'v1' end,
          case when v_is_key then 'whpk_' || pg_catalog.encode(
            pg_catalog.substr(pg_catalog.decode(pg_catalog.substr(v_secret, 6), 'base64'), 33),
            'base64') end,
          p_now);
  return v_id;
end
$$;
comment on function outbox.add_secret(uuid, text, timestamptz) is
  'Stores one more signing secret of an endpoint in Vault and returns the id of its row; whsk_ '
  'is one of scheme v1a, with its public key beside it.';

create function outbox.live_secrets(p_endpoint_id uuid, p_now timestamptz) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(
      pg_catalog.jsonb_agg(v.decrypted_secret
        order by s.expires_at is null desc, s.created_at desc),
      '[]')
    from outbox.endpoint_secret s
    join vault.decrypted_secrets v on v.id = s.vault_id
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > p_now));
end
$$;
comment on function outbox.live_secrets(uuid, timestamptz) is
  'The secrets that sign at that time, newest first, as a jsonb array of text. For dispatch() '
  'and read_secret() alone.';

create function outbox.check_overlap(p_overlap interval) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_overlap is null or p_overlap < interval '0' or p_overlap > interval '30 days' then
    perform outbox.invalid('overlap',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_overlap::text)),
      'Expected how long the old secret signs on, from 0 to 30 days, such as 24 hours');
  end if;
end
$$;
comment on function outbox.check_overlap(interval) is
  'Raises OH001 for an overlap that is not between 0 and 30 days.';

create function outbox.check_old_secrets(p_endpoint_id uuid, p_now timestamptz) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_most constant integer := 5;
  v_old integer;
  v_first timestamptz;
begin
  select pg_catalog.count(*), pg_catalog.min(s.expires_at) into v_old, v_first
  from outbox.endpoint_secret s where s.endpoint_id = p_endpoint_id and s.expires_at > p_now;
  if v_old > v_most then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has %s old secrets that still sign', p_endpoint_id,
        v_most),
      hint = pg_catalog.format(
        'The first of them ends at %s; read_secret() lists them and expire_secret() ends one at '
        'once', v_first);
  end if;
end
$$;
comment on function outbox.check_old_secrets(uuid, timestamptz) is
  'Raises OH004 when more than 5 replaced secrets of an endpoint still sign: each makes every '
  'header longer.';

create function outbox.check_signs(p_endpoint_id uuid) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_kind text := (outbox.check_endpoint(p_endpoint_id)).kind;
begin
  if v_kind <> 'webhook' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is of kind %s, which has no signing secret',
        p_endpoint_id, v_kind),
      hint = 'Webhooks alone are signed';
  end if;
end
$$;
comment on function outbox.check_signs(uuid) is
  'Raises OH004 for an endpoint of a kind that signs nothing, OH002 when there is none.';

create function outbox.rotate_secret(
  p_endpoint_id uuid, p_secret text default null, p_overlap interval default '24 hours'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_secret text := coalesce(p_secret, outbox.new_secret());
  v_scheme text := case when v_secret like 'whsk\_%' then 'v1a' else 'v1' end;
  v_now timestamptz;
  v_expires timestamptz;
  v_id uuid;
  v_new outbox.endpoint_secret;
begin
  perform outbox.check_signs(p_endpoint_id);
  perform outbox.check_overlap(p_overlap);
  -- Two rotations at a time would both take the same secret for the current one.
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  v_now := outbox.clock();
  update outbox.endpoint_secret s set expires_at = v_now + p_overlap
  where s.endpoint_id = p_endpoint_id and s.scheme = v_scheme and s.expires_at is null
  returning s.expires_at into v_expires;
  perform outbox.check_old_secrets(p_endpoint_id, v_now);
  v_id := outbox.add_secret(p_endpoint_id, v_secret, v_now);
  select * into v_new from outbox.endpoint_secret s where s.id = v_id;
  if (
    select pg_catalog.count(*) > pg_catalog.count(distinct l.value)
    from pg_catalog.jsonb_array_elements(outbox.live_secrets(p_endpoint_id, v_now)) l
  ) then
    perform outbox.invalid('secret', 'is one that the endpoint signs with already',
      'Leave it out and a new one is made');
  end if;
  return pg_catalog.jsonb_build_object(
    'id', p_endpoint_id,
    'secret_id', v_id,
    'secret', case
      when v_scheme = 'v1' then (
        select v.decrypted_secret from vault.decrypted_secrets v where v.id = v_new.vault_id
      )
    end,
    'public_key', v_new.public_key,
    'expires_at', v_expires);
end
$$;
comment on function outbox.rotate_secret(uuid, text, interval) is
  'Gives an endpoint a new signing secret; the one it replaces signs on for p_overlap, beside '
  'it. A secret whsk_… (ed25519) replaces the one of its own kind, or is the first of it, and '
  'changes nothing of whsec_…. Returns {"id", "secret_id", "secret" (null for whsk_), '
  '"public_key" (whpk_…, for whsk_), "expires_at" (of the replaced one)}. OH001, OH002; OH004: '
  'more than 5 old ones still sign.';

create function outbox.expire_secret(p_secret_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_secret outbox.endpoint_secret;
begin
  select *
  into v_secret
  from outbox.endpoint_secret s
  where s.id = p_secret_id and (s.expires_at is null or s.expires_at > v_now);
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('secret %s does not exist or has expired',
        pg_catalog.quote_nullable(p_secret_id::text)),
      hint = 'read_secret() lists the secrets of an endpoint';
  elsif v_secret.scheme = 'v1' and v_secret.expires_at is null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('secret %s is the one that endpoint %s signs with', p_secret_id,
        v_secret.endpoint_id),
      hint = 'rotate_secret() with p_overlap => ''0'' replaces it at once';
  end if;
  update outbox.endpoint e
  set version = e.version + 1, updated_at = v_now
  where e.id = v_secret.endpoint_id;
  update outbox.endpoint_secret s set expires_at = v_now where s.id = p_secret_id;
  return pg_catalog.jsonb_build_object('id', v_secret.endpoint_id, 'secret_id', p_secret_id,
    'expires_at', v_now);
end
$$;
comment on function outbox.expire_secret(uuid) is
  'Ends at once a replaced secret, or an ed25519 key: {"id", "secret_id", "expires_at"}. OH002; '
  'OH004 for the secret that every endpoint must have.';

create function outbox.read_secret(p_endpoint_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_signs(p_endpoint_id);
  return (
    select pg_catalog.jsonb_build_object('id', p_endpoint_id,
      'secret',
      pg_catalog.max(v.decrypted_secret) filter (where s.scheme = 'v1' and s.expires_at is null),
      'public_key', pg_catalog.max(s.public_key) filter (where s.expires_at is null),
      'secrets', pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object(
          'secret_id', s.id, 'scheme', s.scheme, 'public_key', s.public_key,
          'created_at', s.created_at, 'expires_at', s.expires_at)
        order by s.expires_at is null desc, s.created_at desc))
    from outbox.endpoint_secret s
    join vault.decrypted_secrets v on v.id = s.vault_id
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > v_now));
end
$$;
comment on function outbox.read_secret(uuid) is
  'What a receiver needs, and what signs: {"id", "secret": "whsec_…", "public_key": "whpk_…" or '
  'null, "secrets": [{"secret_id", "scheme", "public_key", "created_at", "expires_at"}] newest '
  'first}. No private key is shown. OH002.';

create function outbox.drop_expired_secrets(p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_dropped integer;
begin
  with gone as (
    delete from outbox.endpoint_secret s where s.expires_at <= p_now returning s.vault_id
  )
  delete from vault.secrets v using gone g where v.id = g.vault_id;
  get diagnostics v_dropped = row_count;
  return v_dropped;
end
$$;
comment on function outbox.drop_expired_secrets(timestamptz) is
  'Removes from Vault the secrets that no longer sign; returns how many.';
