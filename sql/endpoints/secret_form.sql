-- What a signing secret looks like: Standard Webhooks' forms, whsec_ for HMAC and whsk_ for
-- ed25519, each with base64 behind it. No error of this file shows the secret.

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
