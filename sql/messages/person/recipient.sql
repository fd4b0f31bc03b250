-- Numbers of recipients. WhatsApp writes the numbers of two countries in two ways: a mobile number
-- of Brazil with or without its ninth digit, a number of Mexico with or without a 1 after the
-- country code. Both are one recipient for opt-outs, the 24-hour window and the order of messages.

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
  'with later ones to the same number.';

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
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.hash_person(p_recipient, outbox.hash_key());
end
$$;
comment on function outbox.person_key(text) is
  'The partition key of events to or from a recipient, and the id of the recipient in the audit '
  'trail: a keyed hash of the number. Events, dead letters and the audit trail are stored longer '
  'than the message, and an unkeyed hash of ten digits can be guessed in a minute.';
