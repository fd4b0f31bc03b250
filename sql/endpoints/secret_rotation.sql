-- Replacing and ending signing secrets. A replaced one signs on for a while beside the new one, so
-- that a receiver has time to take it over; cleanup removes from Vault what no longer signs.

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
  -- Two rotations at a time would both take the same secret for the current one.
  perform outbox.lock_endpoint(p_endpoint_id);
  perform outbox.check_signs(p_endpoint_id);
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
    perform outbox.invalid('secret', 'is one that the endpoint signs with already',
      'Leave it out and a new one is made');
  end if;
  perform outbox.release_unreadable(p_endpoint_id);
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
  'Gives an endpoint a new signing secret; the one it replaces signs on for p_overlap, beside it. '
  'A secret whsk_… (ed25519) replaces the one of its own kind, or is the first of it, and changes '
  'nothing of whsec_…. A replaced secret that cannot be read from Vault ends at once, and an '
  'endpoint that was held because of it is resumed. Returns {"id", "secret_id", "secret" (null for '
  'whsk_), "public_key" (whpk_…, for whsk_), "expires_at" (of the replaced one)}. OH001, OH002; '
  'OH004: more than 5 old ones still sign.';

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

create function outbox.drop_expired_secrets(p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_dropped integer;
begin
  with gone as (
    delete from outbox.endpoint_secret s
    where s.id in (
      -- Whoever holds one of them forgets its endpoint, secrets and all.
      select o.id from outbox.endpoint_secret o
      where o.expires_at <= p_now - interval '5 minutes'
      for update skip locked)
    returning s.vault_id
  )
  delete from vault.secrets v using gone g where v.id = g.vault_id;
  get diagnostics v_dropped = row_count;
  return v_dropped;
end
$$;
comment on function outbox.drop_expired_secrets(timestamptz) is
  'Removes from Vault the secrets that have not signed for five minutes, so that build_parcel() '
  'still sees which endpoints the runs know with one; returns how many.';
