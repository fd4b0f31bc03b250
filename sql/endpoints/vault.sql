-- Reads secrets from Vault. A row may be missing, or Vault cannot decrypt it because the root key
-- was lost. Reading then raises an error, so that no request is sent without its signature or a
-- header. The claim pauses the endpoint (endpoints/unreadable).

create function outbox.missing_in_vault(p_what text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH004',
    message = pg_catalog.format('%s is missing in Vault', p_what),
    hint =
      'Set it again with rotate_secret(), set_headers(), or the function that sets the '
      'credentials of this kind of endpoint';
end
$$;
comment on function outbox.missing_in_vault(text) is
  'Raises OH004 for a secret that is missing in Vault.';

create function outbox.vault_text(p_vault_id uuid, p_what text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_text text := (
    select v.decrypted_secret from vault.decrypted_secrets v where v.id = p_vault_id);
begin
  if v_text is null then
    perform outbox.missing_in_vault(p_what);
  end if;
  return v_text;
end
$$;
comment on function outbox.vault_text(uuid, text) is
  'A secret from Vault. OH004 if it is missing, and Vault''s own error if it cannot be decrypted. '
  'p_what: its name in the error.';

create function outbox.try_read(p_vault_id uuid) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return (select v.decrypted_secret from vault.decrypted_secrets v where v.id = p_vault_id);
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  return null;
end
$$;
comment on function outbox.try_read(uuid) is
  'A secret from Vault; null if it is missing or cannot be decrypted.';
