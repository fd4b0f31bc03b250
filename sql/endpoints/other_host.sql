-- Custom headers and credentials were given for one host. A change of scheme, host or port must
-- name them again in the same call, because whoever may change a URL could otherwise read them at a
-- host of their own. The signing secrets are never sent, so they stay.

create function outbox.url_origin(p_url text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_parts text[] := pg_catalog.regexp_match(pg_catalog.lower(p_url), '^([a-z]+)://([^/?#]*)');
  v_authority text := pg_catalog.rtrim(v_parts[2], ':');
begin
  if v_authority !~ ':[0-9]+$' then
    v_authority := v_authority || case v_parts[1] when 'https' then ':443' else ':80' end;
  end if;
  return v_parts[1] || '://' || v_authority;
end
$$;
comment on function outbox.url_origin(text) is
  'The scheme, host and port of a URL in lower case, such as https://example.com:443. All '
  'addresses for the URL of Kafka brokers. Two texts of one IP address count as two hosts.';

create function outbox.check_named_again(p_before outbox.endpoint, p_headers jsonb) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_url text := (select e.url from outbox.endpoint e where e.id = p_before.id);
  v_named jsonb := case
    when pg_catalog.jsonb_typeof(p_headers) = 'object' then p_headers
    else '{}'
  end;
  v_missing text;
begin
  if outbox.url_origin(v_url) is not distinct from outbox.url_origin(p_before.url) then
    return;
  end if;
  v_missing := (
    select pg_catalog.string_agg(n, ', ') from pg_catalog.unnest(p_before.header_names) n
    where pg_catalog.lower(n) not in (
      select pg_catalog.lower(k) from pg_catalog.jsonb_object_keys(v_named) k));
  if v_missing is not null then
    perform outbox.invalid('headers', pg_catalog.format(
        'lacks %s, although the URL leads to another scheme, host or port', v_missing),
      'Name each of them in headers of the same call: with its value for the new host, or null to '
      'remove it');
  end if;
end
$$;
comment on function outbox.check_named_again(outbox.endpoint, jsonb) is
  'Raises OH001 if the stored URL has another origin than p_before, the endpoint before the '
  'change, and p_headers does not name all custom headers of p_before.';

create function outbox.finish_change(p_before outbox.endpoint, p_headers jsonb) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_named_again(p_before, p_headers);
  if p_headers <> '{}' then
    perform outbox.change_headers(p_before.id, p_headers);
  else
    update outbox.endpoint e
    set version = e.version + 1, updated_at = outbox.clock()
    where e.id = p_before.id;
  end if;
end
$$;
comment on function outbox.finish_change(outbox.endpoint, jsonb) is
  'The end of each change of an endpoint: changes the headers that p_headers names, none if it is '
  'null, and counts the version. OH001; OH004: see set_headers().';
