-- Custom headers of an endpoint. Any of them may be a credential, so Vault stores all values. Names
-- are public; only dispatch() reads the values. Names and values are checked here, because an
-- invalid one would fail the whole batch of a run. The sender has the same rules
-- (functions/_shared/signing; tests/sql/same_rules.test.ts compares them).

create function outbox.reserved_headers() returns text[]
language plpgsql immutable set search_path = ''
as $$
begin
  return array[
    'accept-encoding', 'connection', 'content-encoding', 'content-length', 'content-type',
    'expect', 'host', 'http2-settings', 'idempotency-key', 'keep-alive', 'proxy-*', 'sec-*',
    'te', 'traceparent', 'tracestate', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent',
    'webhook-*', 'x-attempt', 'x-correlation-id', 'x-event-type', 'x-outhook-*', 'x-signature',
    'x-timestamp'
  ];
end
$$;
comment on function outbox.reserved_headers() is
  'The names that no custom header may have, in lower case; webhook-* means all names with this '
  'prefix.';

create function outbox.header_problem(p_name text, p_value jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_name !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' then 'has characters that HTTP does not allow'
    when pg_catalog.length(p_name) > 100 then 'has a name of more than 100 characters'
    when pg_catalog.lower(p_name) = any (outbox.reserved_headers())
      or pg_catalog.regexp_replace(
        pg_catalog.lower(p_name), '^(proxy|sec|webhook|x-outhook)-.*$', '\1-*'
      ) = any (outbox.reserved_headers())
    then 'is reserved'
    when pg_catalog.jsonb_typeof(p_value) <> 'string' then 'is not a string'
    when p_value #>> '{}' !~ '^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$' then
      'has an empty value, or characters that are not visible ASCII'
  end;
end
$$;
comment on function outbox.header_problem(text, jsonb) is
  'The problem of a custom header, as the end of a sentence; null if the header is valid. Never '
  'contains the value.';

create function outbox.check_headers(p_headers jsonb) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_example constant text :=
    'Expected up to 20 names with their values, such as {"x-api-key": "secret"}';
  v_name text;
  v_problem text;
  v_seen text[] := array[]::text[];
begin
  if pg_catalog.jsonb_typeof(p_headers) is distinct from 'object' then
    perform outbox.invalid('headers', 'is not a JSON object', v_example);
  elsif pg_catalog.octet_length(p_headers::text) > 8192 then
    perform outbox.invalid('headers', 'has more than 8192 bytes',
      'Send the data in the payload: many receivers reject large headers');
  elsif (select pg_catalog.count(*) from pg_catalog.jsonb_object_keys(p_headers)) > 20 then
    perform outbox.invalid('headers', 'has more than 20 names', v_example);
  end if;
  for v_name in select k from pg_catalog.jsonb_object_keys(p_headers) k loop
    v_problem := outbox.header_problem(v_name, p_headers -> v_name);
    if v_problem is null and pg_catalog.lower(v_name) = any (v_seen) then
      v_problem := 'occurs twice: header names are not case-sensitive';
    end if;
    if v_problem is not null then
      perform outbox.invalid('headers.' || pg_catalog.left(v_name, 80), v_problem,
        'Expected the name of a custom header and a value of visible ASCII; Outhook sets the '
        'reserved headers');
    end if;
    v_seen := v_seen || pg_catalog.lower(v_name);
  end loop;
end
$$;
comment on function outbox.check_headers(jsonb) is
  'Raises OH001 for the first invalid custom header. The message never contains a value, because '
  'it may be a credential.';

create function outbox.parse_headers(p_text text) returns jsonb
language plpgsql immutable set search_path = ''
as $$
declare
  v_headers jsonb;
begin
  -- Not as the default of the variable: the handler does not catch errors there.
  v_headers := p_text::jsonb;
  if pg_catalog.jsonb_typeof(v_headers) = 'object' then
    return (
      select v_headers
      where not exists (
        select from pg_catalog.jsonb_each(v_headers) h
        where pg_catalog.jsonb_typeof(h.value) <> 'string'));
  end if;
  return null;
exception when data_exception then
  return null;
end
$$;
comment on function outbox.parse_headers(text) is
  'Custom headers as Vault stores them, {name: value}; null if the text is not an object of texts.';

create function outbox.stored_headers(p_vault_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_headers jsonb := '{}'::jsonb;
begin
  if p_vault_id is not null then
    v_headers := outbox.parse_headers(outbox.vault_text(p_vault_id, 'the set of custom headers'));
  end if;
  if v_headers is null then
    -- Without this error a run would fail to read the whole batch.
    raise exception using errcode = 'OH004',
      message = 'the custom headers in Vault are not an object of texts',
      hint = 'Set all of them again with set_headers()';
  end if;
  return v_headers;
end
$$;
comment on function outbox.stored_headers(uuid) is
  'The custom headers of an endpoint with their values. OH004 if they are missing or invalid in '
  'Vault, and Vault''s own error if they cannot be decrypted. Only for dispatch().';

create function outbox.remaining_headers(p_endpoint_id uuid, p_headers jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.check_endpoint(p_endpoint_id);
  v_stored jsonb := '{}'::jsonb;
  v_missing text[];
begin
  if v_endpoint.headers_vault_id is null then
    return v_stored;
  end if;
  v_missing := array(
    select n from pg_catalog.unnest(v_endpoint.header_names) n
    where pg_catalog.lower(n) not in (
      select pg_catalog.lower(k) from pg_catalog.jsonb_object_keys(p_headers) k));
  if pg_catalog.cardinality(v_missing) = 0 then
    return v_stored;
  end if;
  perform outbox.refuse_unreadable(p_endpoint_id);
  v_stored := outbox.parse_headers(outbox.try_read(v_endpoint.headers_vault_id));
  if v_stored is null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the headers of endpoint %s cannot be read from Vault',
        p_endpoint_id),
      hint = pg_catalog.format('Set each of these headers in the call, to a value or null: %s',
        pg_catalog.array_to_string(v_missing, ', '));
  end if;
  return (
    select coalesce(pg_catalog.jsonb_object_agg(n, v_stored -> n), '{}')
    from pg_catalog.unnest(v_missing) n where v_stored ? n);
end
$$;
comment on function outbox.remaining_headers(uuid, jsonb) is
  'The custom headers of an endpoint that p_headers does not name, with their values. OH004 if '
  'they cannot be read.';

create function outbox.put_headers(p_endpoint_id uuid, p_headers jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_old uuid := (select e.headers_vault_id from outbox.endpoint e where e.id = p_endpoint_id);
  v_new uuid;
begin
  if p_headers = '{}' and v_old is null then
    return;
  elsif p_headers <> '{}' then
    v_new := vault.create_secret(p_headers::text,
      'outhook_endpoint_headers_' || pg_catalog.gen_random_uuid()::text,
      'Custom headers of an Outhook endpoint');
  end if;
  update outbox.endpoint e set
    headers_vault_id = v_new,
    header_names = array(
      select k from pg_catalog.jsonb_object_keys(p_headers) k order by k collate "C")
  where e.id = p_endpoint_id;
  delete from vault.secrets v where v.id = v_old;
  perform outbox.release_unreadable(p_endpoint_id);
end
$$;
comment on function outbox.put_headers(uuid, jsonb) is
  'Stores the custom headers of an endpoint in Vault, in place of the old ones. Resumes an '
  'endpoint that was paused because they could not be read.';

create function outbox.change_headers(p_endpoint_id uuid, p_headers jsonb) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_headers jsonb;
begin
  -- Serialises calls: the second one starts from the headers of the first.
  perform outbox.lock_endpoint(p_endpoint_id);
  perform outbox.check_headers(pg_catalog.jsonb_strip_nulls(p_headers));
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  v_headers := outbox.remaining_headers(p_endpoint_id, p_headers)
    || pg_catalog.jsonb_strip_nulls(p_headers);
  perform outbox.check_headers(v_headers);
  perform outbox.put_headers(p_endpoint_id, v_headers);
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'header_names', e.header_names)
    from outbox.endpoint e
    where e.id = p_endpoint_id
  );
end
$$;
comment on function outbox.change_headers(uuid, jsonb) is
  'What set_headers() does, but no row in the audit trail.';

create function outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.change_headers(p_endpoint_id, p_headers);
begin
  perform outbox.note_change(p_endpoint_id, array[]::text[], p_headers);
  return v_result;
end
$$;
comment on function outbox.set_headers(uuid, jsonb) is
  'Changes custom headers by name, in upper or lower case. A string is the new value, null '
  'removes the header, other headers do not change. Returns {"id", "header_names"}, never a '
  'value. Resumes an endpoint that was paused because its headers could not be read. OH001, '
  'OH002; OH004: headers that the call does not name cannot be read.';
