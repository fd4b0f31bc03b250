-- net, the requests: three functions that queue one HTTP request each in the caller's transaction.
create function net._encode(p_text text) returns text
  language sql immutable strict parallel safe set search_path = ''
as $$
  select coalesce(pg_catalog.string_agg(
    case when c ~ '^[A-Za-z0-9_.~-]$' then c
    else pg_catalog.upper(pg_catalog.regexp_replace(
      pg_catalog.encode(pg_catalog.convert_to(c, 'UTF8'), 'hex'), '(..)', '%\1', 'g'))
    end, '' order by n), '')
  from pg_catalog.regexp_split_to_table(p_text, '') with ordinality as t (c, n)
$$;
comment on function net._encode(text) is 'Percent-encodes all but the unreserved characters.';

-- The errors of libcurl's URL parser, for the URLs that it is likely to get.
create function net._check_url(p_url text) returns void
  language plpgsql immutable set search_path = ''
as $$
declare
  v_scheme text := pg_catalog.lower(pg_catalog.substring(p_url, '^([A-Za-z][A-Za-z0-9+.-]*):/'));
  v_authority text := pg_catalog.substring(p_url, '^[^:]+:/{1,3}(?:[^/?#]*@)?([^/?#]*)');
  v_port text := pg_catalog.substring(v_authority, ':([^:\]]*)$');
  v_host text := pg_catalog.regexp_replace(v_authority, ':[^:\]]*$', '');
  v_problem text := case
    when p_url = '' or p_url ~ '[[:space:][:cntrl:]]' then 'Malformed input to a URL function'
    when p_url !~ '^[A-Za-z][A-Za-z0-9+.-]*:' then 'Bad scheme'
    when v_scheme is null
      or v_scheme not in ('http', 'https', 'ws', 'wss', 'ftp', 'ftps', 'file', 'gopher')
    then 'Unsupported URL scheme'
    when v_scheme = 'file' then null
    when v_host = '' then 'No host part in the URL'
    when v_port ~ '[^0-9]' or pg_catalog.length(v_port) > 5 or nullif(v_port, '')::integer > 65535
    then 'Port number was not a decimal number between 0 and 65535'
    when v_host ~ '^\[' and v_host !~ '^\[[0-9A-Fa-f:.]+(%[^\]]+)?\]$' then 'Bad IPv6 address'
    when v_host ~ '["\\{}<>^`|]' then 'Bad hostname'
  end;
begin
  if v_problem is not null then
    raise exception 'invalid URL "%": %', p_url, v_problem using errcode = 'internal_error';
  end if;
end
$$;
comment on function net._check_url(text) is 'Raises an error for a URL that pg_net refuses.';

create function net._with_params(p_url text, p_params jsonb) returns text
  language sql immutable parallel safe set search_path = ''
as $$
  select p_url || coalesce(
    case when pg_catalog.strpos(p_url, '?') > 0 then '&' else '?' end
    || pg_catalog.string_agg(net._encode(p.key) || '=' || net._encode(p.value), '&'), '')
  from pg_catalog.jsonb_each_text(coalesce(p_params, '{}')) as p
$$;
comment on function net._with_params(text, jsonb) is 'The URL with the parameters in its query.';

create function net._queue(
  p_method text, p_url text, p_params jsonb, p_headers jsonb, p_body bytea, p_timeout integer
) returns bigint
  language plpgsql volatile set search_path = ''
as $$
declare
  v_id bigint;
begin
  perform net._check_url(p_url);
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (p_method, net._with_params(p_url, p_params), p_headers, p_body, p_timeout)
  returning id into v_id;
  perform net.wake();
  return v_id;
end
$$;
comment on function net._queue(text, text, jsonb, jsonb, bytea, integer) is
  'Queues a request, wakes the worker after commit, and returns the request''s id.';

create function net.http_get(
  url text, params jsonb default '{}', headers jsonb default '{}',
  timeout_milliseconds integer default 5000
) returns bigint
  language sql volatile set search_path = ''
as $$
  select net._queue('GET', url, params, headers, null, timeout_milliseconds)
$$;
comment on function net.http_get(text, jsonb, jsonb, integer) is
  'Queues a GET request, made after commit; returns its id.';

create function net.http_post(
  url text, body jsonb default '{}', params jsonb default '{}',
  headers jsonb default '{"Content-Type": "application/json"}',
  timeout_milliseconds integer default 5000
) returns bigint
  language plpgsql volatile set search_path = ''
as $$
declare
  v_type text := (
    select h.value from pg_catalog.jsonb_each_text(headers) as h
    where pg_catalog.lower(h.key) = 'content-type' limit 1
  );
begin
  if v_type is null then
    headers := coalesce(headers, '{}') || '{"Content-Type": "application/json"}';
  elsif v_type <> 'application/json' then
    raise exception 'Content-Type header must be "application/json"';
  end if;
  return net._queue('POST', url, params, headers,
    pg_catalog.convert_to(body::text, 'UTF8'), timeout_milliseconds);
end
$$;
comment on function net.http_post(text, jsonb, jsonb, jsonb, integer) is
  'Queues a POST request with a JSON body, made after commit; returns its id.';

create function net.http_delete(
  url text, params jsonb default '{}', headers jsonb default '{}',
  timeout_milliseconds integer default 5000, body jsonb default null
) returns bigint
  language sql volatile set search_path = ''
as $$
  select net._queue('DELETE', url, params, headers,
    pg_catalog.convert_to(body::text, 'UTF8'), timeout_milliseconds)
$$;
comment on function net.http_delete(text, jsonb, jsonb, integer, jsonb) is
  'Queues a DELETE request, made after commit; returns its id.';
