-- Rotation of signing secrets. A replaced secret signs together with the new one for a while, so
-- that the receiver has time to change. Cleanup then removes it from Vault.

create function outbox.check_overlap(p_overlap interval) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_overlap is null or p_overlap < interval '0' or p_overlap > interval '30 days' then
    perform outbox.invalid('overlap',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_overlap::text)),
      'Expected for how long the old secret still signs, from 0 to 30 days, such as 24 hours');
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
        'Wait until the first one expires, at %s, or expire one at once with '
        'expire_secret(); read_secret() lists them', v_first);
  end if;
end
$$;
comment on function outbox.check_old_secrets(uuid, timestamptz) is
  'Raises OH004 if more than 5 replaced secrets of an endpoint still sign: each of them makes the '
  'signature header longer.';

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
  -- Without the lock two concurrent rotations would both replace the same secret.
  perform outbox.lock_endpoint(p_endpoint_id);
  perform outbox.refuse_unreadable(p_endpoint_id);
  perform outbox.check_is_signed(p_endpoint_id);
  perform outbox.check_overlap(p_overlap);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  v_now := outbox.clock();
  update outbox.endpoint_secret s set expires_at = v_now + case
    when outbox.try_read(s.vault_id) is null then interval '0'
    else p_overlap
  end
  where s.endpoint_id = p_endpoint_id and s.scheme = v_scheme and s.expires_at is null
  returning s.expires_at into v_expires;
  if p_overlap = interval '0' then
    update outbox.endpoint_secret s set expires_at = v_now
    where s.endpoint_id = p_endpoint_id and s.scheme = v_scheme and s.expires_at > v_now;
  end if;
  perform outbox.end_unreadable_secrets(p_endpoint_id, v_now);
  perform outbox.check_old_secrets(p_endpoint_id, v_now);
  v_id := outbox.add_secret(p_endpoint_id, v_secret, v_now);
  select * into v_new from outbox.endpoint_secret s where s.id = v_id;
  if (
    select pg_catalog.count(l.secret) > pg_catalog.count(distinct l.secret)
    from outbox.endpoint_secret s
    cross join lateral outbox.try_read(s.vault_id) l (secret)
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > v_now)
  ) then
    perform outbox.invalid('secret', 'is already a secret of the endpoint',
      'Use another secret, or omit it to create a new one');
  end if;
  perform outbox.release_unreadable(p_endpoint_id);
  perform outbox.note_endpoint(p_endpoint_id, 'SECRET_ROTATED', 'Signing secret rotated',
    pg_catalog.jsonb_build_object('secretId', v_id, 'scheme', v_scheme,
      'oldExpiresAt', outbox.iso_time(v_expires)));
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
  'Replaces the signing secret of an endpoint. The replaced one still signs for p_overlap. With an '
  'overlap of 0, all older secrets of the same scheme expire at once, also those of earlier '
  'rotations. A secret whsk_… (ed25519) replaces only one of its own scheme, or is added if there '
  'is none. A '
  'replaced secret that Vault cannot return expires at once, and an endpoint that was paused '
  'because of it is resumed. Returns {"id", "secret_id", "secret" (null for whsk_), "public_key" '
  '(whpk_…, for whsk_), "expires_at" (of the replaced one)}. OH001, OH002; OH004: more than 5 old '
  'secrets still sign.';

create function outbox.expire_secret(p_secret_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz;
  v_secret outbox.endpoint_secret;
begin
  perform outbox.lock_endpoint(s.endpoint_id)
  from outbox.endpoint_secret s where s.id = p_secret_id;
  v_now := outbox.clock();
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
      message = pg_catalog.format('secret %s is the current secret of endpoint %s', p_secret_id,
        v_secret.endpoint_id),
      hint = 'Replace it at once with rotate_secret() and p_overlap => ''0''';
  end if;
  update outbox.endpoint e
  set version = e.version + 1, updated_at = v_now
  where e.id = v_secret.endpoint_id;
  update outbox.endpoint_secret s set expires_at = v_now where s.id = p_secret_id;
  perform outbox.note_endpoint(v_secret.endpoint_id, 'SECRET_EXPIRED',
    'Replaced signing secret expired', pg_catalog.jsonb_build_object('secretId', p_secret_id));
  return pg_catalog.jsonb_build_object('id', v_secret.endpoint_id, 'secret_id', p_secret_id,
    'expires_at', v_now);
end
$$;
comment on function outbox.expire_secret(uuid) is
  'Expires a replaced secret or an ed25519 key at once: {"id", "secret_id", "expires_at"}. OH002; '
  'OH004 for the current HMAC secret, which every webhook needs.';

create function outbox.drop_expired_secrets(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.drop_expired_secrets', 'outbox.endpoint_secret', $delete$
      with deleted as (
        delete from outbox.endpoint_secret s where s.ctid = any ($1) returning s.vault_id
      )
      delete from vault.secrets v using deleted x where v.id = x.vault_id
    $delete$,
    -- remove_endpoint() may hold the lock: it deletes the secrets itself.
    array(
      select o.ctid from outbox.endpoint_secret o
      where o.expires_at <= p_now - interval '5 minutes'
      limit p_limit
      for update skip locked),
    p_now);
end
$$;
comment on function outbox.drop_expired_secrets(timestamptz, integer) is
  'Deletes up to p_limit secrets that expired at least five minutes ago, also from Vault. Until '
  'then build_parcel() still finds the endpoints that runs have cached with one. Returns how many.';
