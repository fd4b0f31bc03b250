-- Identifiers of people. A number is E.164 with +. A wa_id is the same without +. A user id of
-- WhatsApp (US.1349…) is of a person who may hide the number. WhatsApp writes the numbers of two
-- countries in two ways: a mobile number of Brazil with or without its ninth digit, a number of
-- Mexico with or without a 1 after the country code. Both are one identifier. Other spellings, such
-- as the 9 of Argentina, are linked when WhatsApp names them: see person.

create function outbox.number_variants(p_recipient text) returns text[]
language plpgsql immutable set search_path = ''
as $$
declare
  v_brazil text[] := pg_catalog.regexp_match(p_recipient, '^\+55([1-9][0-9])9?([6-9][0-9]{7})$');
  v_mexico text[] := pg_catalog.regexp_match(p_recipient, '^\+521?([1-9][0-9]{9})$');
begin
  return case
    when v_brazil is not null then array[
      '+55' || v_brazil[1] || '9' || v_brazil[2], '+55' || v_brazil[1] || v_brazil[2]]
    when v_mexico is not null then array['+52' || v_mexico[1], '+521' || v_mexico[1]]
    else array[p_recipient]
  end;
end
$$;
comment on function outbox.number_variants(text) is
  'All ways to write a recipient''s number (E.164 with +); the first is today''s form in the '
  'country''s numbering plan.';

create function outbox.wa_id_to_e164(p_wa_id text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_wa_id ~ '^[1-9][0-9]{6,14}$' then '+' || p_wa_id end;
end
$$;
comment on function outbox.wa_id_to_e164(text) is
  'A wa_id in E.164 form with +; null if it is not a number.';

create function outbox.identifier_of(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_text ~ '^[+]?[1-9][0-9]{6,14}$'
    then (outbox.number_variants('+' || pg_catalog.ltrim(p_text, '+')))[1]
    when p_text ~ '^[A-Z]{2}[.][A-Za-z0-9.]{1,190}$' then p_text
  end;
end
$$;
comment on function outbox.identifier_of(text) is
  'The identifier that a number in E.164 form, a wa_id (digits) or a user id of WhatsApp stands '
  'for: the same for all ways to write it. Null if it is none of these.';

create function outbox.user_identifier(p_user_id text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- + begins a number, # a hash.
  return case when p_user_id !~ '^[+#]' then p_user_id end;
end
$$;
comment on function outbox.user_identifier(text) is
  'The identifier of a user id in a callback, whose form Meta may change; null if it could be '
  'mistaken for a number.';

create function outbox.hash_key() returns text
language plpgsql volatile set search_path = ''
as $$
declare
  v_name constant text := 'outhook_recipient_key';
  v_key text;
  v_lost text;
begin
  begin
    v_key := (select v.decrypted_secret from vault.decrypted_secrets v where v.name = v_name);
  exception when others then
    if outbox.is_passing(sqlstate) then
      raise;
    end if;
    -- Without its key, no message could be created and no status recorded. A new key only makes new
    -- hashes. The unreadable one stays in Vault, in case that its root key comes back.
    v_lost := pg_catalog.format('%s lost %s', v_name, pg_catalog.gen_random_uuid());
    perform vault.update_secret(v.id, new_name => v_lost) from vault.secrets v
    where v.name = v_name;
    raise warning 'outbox: the key of recipients cannot be read from Vault and is replaced: % %',
      sqlstate, sqlerrm;
  end;
  if v_key is null then
    begin
      perform vault.create_secret(
        pg_catalog.encode(extensions.gen_random_bytes(32), 'hex'), v_name,
        'Key of the hashes that Outhook stores instead of phone numbers');
    exception when unique_violation then
      -- Another session created it first.
      null;
    end;
    v_key := (select v.decrypted_secret from vault.decrypted_secrets v where v.name = v_name);
  end if;
  return v_key;
end
$$;
comment on function outbox.hash_key() is
  'The key of person_key(), from Vault; created at its first use. If it cannot be decrypted, it is '
  'renamed and a new one is created: messages that wait keep their order among themselves, but not '
  'with later ones to the same number, and opt-outs of erased people are found no more.';

create function outbox.hash_person(p_recipient text, p_key text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.encode(
    extensions.hmac((outbox.number_variants(p_recipient))[1], p_key, 'sha256'), 'hex');
end
$$;
comment on function outbox.hash_person(text, text) is
  'person_key() with a key that the caller has read: for many numbers, because each read of Vault '
  'takes 0.1 ms or more.';

create function outbox.person_key(p_recipient text) returns text
language plpgsql volatile set search_path = ''
as $$
begin
  return outbox.hash_person(p_recipient, outbox.hash_key());
end
$$;
comment on function outbox.person_key(text) is
  'The partition key of events to or from a recipient: a keyed hash of the number or user id. '
  'Events and dead letters are stored longer than the message, and an unkeyed hash of ten digits '
  'can be guessed in a minute.';

create function outbox.stored_person_key(p_recipient text) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.hash_person(p_recipient, (
    select v.decrypted_secret from vault.decrypted_secrets v
    where v.name = 'outhook_recipient_key'));
exception when query_canceled or assert_failure or others then
  if outbox.is_passing(sqlstate) then
    raise;
  end if;
  return null;
end
$$;
comment on function outbox.stored_person_key(text) is
  'person_key() for a read, which must not create the key: PostgREST calls a stable function in a '
  'read-only transaction. Null if there is no key yet, so nobody was erased, or if it cannot be '
  'decrypted.';
