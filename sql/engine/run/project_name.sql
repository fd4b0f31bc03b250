-- One project has many URLs: with another port on the local stack, with or without TLS, in other
-- letters, with a path. All of them have one name, so that none of these changes looks like another
-- project.

create function outbox.project_name(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_host text := pg_catalog.left(pg_catalog.lower(pg_catalog.btrim(p_text)), 200);
  v_ref text;
begin
  v_host := pg_catalog.regexp_replace(v_host, '^[a-z][a-z0-9+.-]*://([^/?#@]*@)?', '');
  v_host := pg_catalog.regexp_replace(v_host, '[/?#].*$', '');
  v_host := pg_catalog.regexp_replace(v_host, '\.?(:(80|443))?$', '');
  v_ref := (pg_catalog.regexp_match(v_host,
    '^(?:db\.)?([a-z0-9]{20})(?:\.functions)?\.supabase\.(?:co|in|red|net)(?::[0-9]+)?$'))[1];
  if v_ref is not null then
    return v_ref;
  end if;
  if v_host ~ ('^(([^:]+\.)?localhost|127(\.[0-9]+){3}|0\.0\.0\.0|\[::1\]|(supabase[-_])?kong'
    || '([-_][^.:]*)?|host\.docker\.internal)(:[0-9]+)?$')
  then
    return 'local';
  end if;
  return nullif(v_host, '');
end
$$;
comment on function outbox.project_name(text) is
  'The name of a project from its URL, or from any text that a run names: the ref of a project on '
  'supabase.co, "local" for a local stack with any port, else the host with its port, in lower '
  'case and without scheme, path and default port. Null if there is none.';
