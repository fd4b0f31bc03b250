-- Signing secrets. A webhook always has a secret of scheme v1 (HMAC, shared with the receiver), and
-- may have one of scheme v1a (ed25519; only Outhook has the private key). All secrets that have not
-- expired sign, so a receiver can verify with the old or the new one after a rotation. X-Signature
-- has only one of them: see signing_secret. Vault stores them.

create table outbox.endpoint_secret (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  endpoint_id uuid not null,
  vault_id uuid not null,
  scheme text not null default 'v1'
    constraint endpoint_secret_scheme_is_known check (scheme in ('v1', 'v1a')),
  public_key text,
  created_at timestamptz not null,
  expires_at timestamptz
);
comment on table outbox.endpoint_secret is
  'The signing secrets of an endpoint. Vault stores their values. All that have not expired sign.';
create index endpoint_secret_endpoint on outbox.endpoint_secret (endpoint_id, created_at desc);

create function outbox.keep_secret_moved() returns trigger
language plpgsql set search_path = ''
as $$
begin
  perform outbox.refuse_change(e.org_id) from outbox.endpoint e where e.id = new.endpoint_id;
  return new;
end
$$;
comment on function outbox.keep_secret_moved() is
  'Trigger: OH012 for a secret that is added or ended where refuse_change() refuses changes of the '
  'organisation. A secret that has expired may be deleted.';

create trigger endpoint_secret_was_moved
  before insert or update on outbox.endpoint_secret
  for each row execute function outbox.keep_secret_moved();

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
  'Stores an additional signing secret of an endpoint in Vault and returns the id of its row. A '
  'secret whsk_… has scheme v1a, and its public key is stored in the row.';

create function outbox.active_secrets(p_endpoint_ids uuid[], p_now timestamptz) returns jsonb
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_secrets jsonb;
  v_missing bigint;
begin
  -- One statement for all endpoints: a statement for each would take three times as long.
  select pg_catalog.jsonb_object_agg(e.endpoint_id, e.secrets), pg_catalog.sum(e.missing)
  into v_secrets, v_missing
  from (
    select s.endpoint_id,
      coalesce(
        pg_catalog.jsonb_agg(
          v.decrypted_secret
          order by s.id is not distinct from s.first_id desc, s.expires_at is null desc,
            s.created_at desc, s.id)
          filter (where v.decrypted_secret is not null),
        '[]') as secrets,
      pg_catalog.count(*) filter (where s.expires_at is null and v.decrypted_secret is null)
        as missing
    from (
      select s.*,
        -- Only the order of several secrets depends on it.
        case
          when pg_catalog.count(*) over (partition by s.endpoint_id) > 1
          then outbox.signing_secret(s.endpoint_id, p_now)
        end as first_id
      from pg_catalog.unnest(p_endpoint_ids) p
      cross join lateral (
        select s.* from outbox.endpoint_secret s
        where s.endpoint_id = p and (s.expires_at is null or s.expires_at > p_now)
        offset 0
      ) s
    ) s
    left join lateral (
      select v.decrypted_secret from vault.decrypted_secrets v where v.id = s.vault_id offset 0
    ) v on true
    group by s.endpoint_id
  ) e;
  if v_missing > 0 then
    perform outbox.missing_in_vault('the signing secret');
  end if;
  return coalesce(v_secrets, '{}');
end
$$;
comment on function outbox.active_secrets(uuid[], timestamptz) is
  'The secrets of these endpoints that sign at that time: {endpoint: [text]}, first the one of '
  'X-Signature (signing_secret()), then the others, newest first. An endpoint without a secret is '
  'absent. Skips a replaced secret that is missing in Vault. OH004 if a current one is missing, '
  'and Vault''s own error if one cannot be decrypted. Only for dispatch().';

create function outbox.check_is_signed(p_endpoint_id uuid) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_kind text := (outbox.check_endpoint(p_endpoint_id)).kind;
begin
  if v_kind <> 'webhook' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is of kind %s, which has no signing secret',
        p_endpoint_id, v_kind),
      hint = 'Use an endpoint of kind webhook';
  end if;
end
$$;
comment on function outbox.check_is_signed(uuid) is
  'Raises OH004 for an endpoint of a kind that is not signed, OH002 if it does not exist.';

create function outbox.endpoint_secrets(p_endpoint_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_is_signed(p_endpoint_id);
  return (
    select pg_catalog.jsonb_build_object('id', p_endpoint_id,
      'secret',
      pg_catalog.max(outbox.try_read(s.vault_id))
        filter (where s.scheme = 'v1' and s.expires_at is null),
      'public_key', pg_catalog.max(s.public_key) filter (where s.expires_at is null),
      'secrets', pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object(
          'secret_id', s.id, 'scheme', s.scheme, 'public_key', s.public_key,
          'created_at', s.created_at, 'expires_at', s.expires_at)
        order by s.expires_at is null desc, s.created_at desc, s.id))
    from outbox.endpoint_secret s
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > v_now));
end
$$;
comment on function outbox.endpoint_secrets(uuid) is
  'What read_secret() returns, but no row in the audit trail.';

create function outbox.read_secret(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.endpoint_secrets(p_endpoint_id);
begin
  if v_result ->> 'secret' is not null then
    perform outbox.note_endpoint(p_endpoint_id, 'SECRET_SHOWN', 'Signing secret shown');
  end if;
  return v_result;
end
$$;
comment on function outbox.read_secret(uuid) is
  'The secrets of a webhook: {"id", "secret": "whsec_…" (null if Vault cannot return it: '
  'rotate_secret() creates a new one), "public_key": "whpk_…" or null, "secrets": [{"secret_id", '
  '"scheme", "public_key", "created_at", "expires_at"}] that sign, newest first}. Returns no '
  'private key. OH002; OH004 for another kind of endpoint.';
