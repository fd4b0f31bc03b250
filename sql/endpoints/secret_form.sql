-- The format of signing secrets by Standard Webhooks: whsec_ (HMAC) or whsk_ (ed25519), then
-- base64. No error in this file contains the secret.

create function outbox.new_secret() returns text
language plpgsql volatile set search_path = ''
as $$
begin
  return 'whsec_' || pg_catalog.translate(
    pg_catalog.encode(extensions.gen_random_bytes(32), 'base64'), E'\n', '');
end
$$;
comment on function outbox.new_secret() is 'A new signing secret of 32 random bytes.';

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
    perform outbox.invalid('secret', 'starts with v1,', v_expected || '; remove v1,');
  elsif p_secret not like 'whsec\_%' then
    perform outbox.invalid('secret', 'does not start with whsec_', v_expected);
  end if;
  v_base64 := pg_catalog.rtrim(pg_catalog.substr(p_secret, 7), '=');
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 after whsec_',
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
  'The secret in its canonical form: whsec_ and padded base64 of 24 to 64 bytes. OH001 has the '
  'expected format, never the secret.';

create function outbox.check_signing_key(p_secret text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_expected constant text :=
    'Expected whsk_ followed by the base64 of an ed25519 key: 32 bytes of seed, 32 of public '
    'key. `deno task keypair` creates one';
  v_base64 text := pg_catalog.rtrim(pg_catalog.substr(p_secret, 6), '=');
begin
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 after whsk_', v_expected);
  elsif pg_catalog.length(v_base64) * 3 / 4 <> 64 then
    perform outbox.invalid('secret',
      pg_catalog.format('has %s bytes after whsk_', pg_catalog.length(v_base64) * 3 / 4),
      v_expected);
  end if;
  return 'whsk_' || v_base64 || '==';
end
$$;
comment on function outbox.check_signing_key(text) is
  'An ed25519 key in its canonical form: whsk_ and padded base64 of 64 bytes. OH001 has the '
  'expected format, never the key.';
