-- Vault where the server has it. Its root key is in vault.key: see settings.ts. The rights are those of the
-- platform.
create schema vault;
create extension supabase_vault with schema vault;

grant usage on schema vault to postgres with grant option;
grant select, delete, truncate, references on vault.secrets, vault.decrypted_secrets
  to postgres with grant option;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea)
  to postgres with grant option;

grant usage on schema vault to service_role;
grant select, delete on vault.secrets, vault.decrypted_secrets to service_role;
grant execute on function
  vault.create_secret(text, text, text, uuid),
  vault.update_secret(uuid, text, text, text, uuid),
  vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea)
  to service_role;
