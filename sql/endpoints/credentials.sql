-- Secret values of one kind of endpoint, such as a URL with a token, or a password. Vault stores
-- them as one JSON object. A claim passes it to the sender of that kind.

create function outbox.put_credentials(p_endpoint_id uuid, p_credentials jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_old uuid := (
    select e.credentials_vault_id from outbox.endpoint e where e.id = p_endpoint_id);
begin
  if p_credentials is null and v_old is null then
    return;
  end if;
  update outbox.endpoint e
  set credentials_vault_id = case
    when p_credentials is not null then vault.create_secret(p_credentials::text,
      'outhook_endpoint_credentials_' || pg_catalog.gen_random_uuid()::text,
      'Credentials of an Outhook endpoint')
  end
  where e.id = p_endpoint_id;
  delete from vault.secrets v where v.id = v_old;
  perform outbox.release_unreadable(p_endpoint_id);
end
$$;
comment on function outbox.put_credentials(uuid, jsonb) is
  'Stores the credentials of an endpoint in Vault, in place of the old ones; null removes them. '
  'Resumes an endpoint that was paused because they could not be read.';

create function outbox.stored_credentials(p_vault_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  if p_vault_id is null then
    return null;
  end if;
  return outbox.vault_text(p_vault_id, 'the set of credentials')::jsonb;
end
$$;
comment on function outbox.stored_credentials(uuid) is
  'The credentials of an endpoint; null if it has none. OH004 if they are missing in Vault, and '
  'Vault''s own error if they cannot be decrypted. Only for dispatch().';
