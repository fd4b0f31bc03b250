-- The statement that releases an endpoint. The remedy must come first, or the next failure holds
-- the endpoint again.

create function outbox.rewrite_command(p_endpoint outbox.endpoint) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_command text := (
    select k.rewrite_command from outbox.endpoint_kind k where k.kind = p_endpoint.kind);
begin
  return 'select ' || case
    when p_endpoint.status_reason like 'unreadable: the signing secret%'
    then pg_catalog.format('outbox.rotate_secret(%L)', p_endpoint.id)
    when p_endpoint.status_reason like 'unreadable: the ed25519 signing key%'
    then pg_catalog.format('outbox.rotate_secret(%L, %L)', p_endpoint.id, '<a new whsk_ key>')
    when p_endpoint.status_reason like 'unreadable: the set of custom headers%'
    then pg_catalog.format('outbox.set_headers(%L, %L)', p_endpoint.id, (
      select pg_catalog.jsonb_object_agg(n, '') from pg_catalog.unnest(p_endpoint.header_names) n))
    else coalesce(pg_catalog.format(v_command, p_endpoint.org_id, p_endpoint.id),
      outbox.release_first(p_endpoint),
      pg_catalog.format('outbox.resume_endpoint(%L)', p_endpoint.id))
  end;
end
$$;
comment on function outbox.rewrite_command(outbox.endpoint) is
  'The statement that sets the unreadable secret of an endpoint again. For a signing secret it '
  'creates a new one. For all others it has a placeholder for the value, and fails until this is '
  'replaced.';

create function outbox.release_command(p_endpoint_id uuid) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoint outbox.endpoint;
begin
  select * into v_endpoint from outbox.endpoint e where e.id = p_endpoint_id;
  if v_endpoint.status is null or v_endpoint.status not in ('paused', 'disabled') then
    return null;
  elsif v_endpoint.status_reason like 'unreadable: %' then
    return outbox.rewrite_command(v_endpoint);
  end if;
  return 'select ' || pg_catalog.concat_ws(', ',
    outbox.release_first(v_endpoint),
    pg_catalog.format('outbox.resume_endpoint(%L)', p_endpoint_id));
end
$$;
comment on function outbox.release_command(uuid) is
  'The statement that releases a paused or disabled endpoint; null for any other. It starts with '
  'the remedy of the module of the kind, if there is one. For an endpoint with an unreadable '
  'secret it sets the secret again. Replace a placeholder such as <the new token>: with it the '
  'statement fails and releases nothing.';
