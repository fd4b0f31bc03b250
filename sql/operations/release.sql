-- What releases an endpoint, as the console gives it: the remedy that must come first with it, or
-- it is held again by the next failure.

create function outbox.rewrite_command(p_endpoint outbox.endpoint) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return 'select ' || case
    when p_endpoint.status_reason like 'unreadable: the signing secret%'
    then pg_catalog.format('outbox.rotate_secret(%L)', p_endpoint.id)
    when p_endpoint.status_reason like 'unreadable: the ed25519 signing key%'
    then pg_catalog.format('outbox.rotate_secret(%L, %L)', p_endpoint.id, '<a new whsk_ key>')
    when p_endpoint.status_reason like 'unreadable: the set of custom headers%'
    then pg_catalog.format('outbox.set_headers(%L, %L)', p_endpoint.id, (
      select pg_catalog.jsonb_object_agg(n, '') from pg_catalog.unnest(p_endpoint.header_names) n))
    when p_endpoint.status_reason like 'unreadable: the access token%'
    then pg_catalog.format('outbox.set_channel_token(%L, %L, %L)', p_endpoint.org_id, p_endpoint.id,
      '<the new token>')
    when p_endpoint.kind = 'slack'
    then pg_catalog.format('outbox.set_slack_url(%L, %L)', p_endpoint.id, '<the URL>')
    when p_endpoint.broker is not null
    then pg_catalog.format('outbox.set_broker(%L, p_credentials => %L)', p_endpoint.id,
      '<the credentials>')
    else pg_catalog.format('outbox.resume_endpoint(%L)', p_endpoint.id)
  end;
end
$$;
comment on function outbox.rewrite_command(outbox.endpoint) is
  'The statement that sets the unreadable secret of an endpoint again. A signing secret is made '
  'anew. For all others the statement has a placeholder for the value, and fails with it.';

create function outbox.release_command(p_endpoint_id uuid) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoint outbox.endpoint;
  v_graph_url constant text := 'https://graph.facebook.com';
  v_token boolean;
  v_blocked boolean;
begin
  select * into v_endpoint from outbox.endpoint e where e.id = p_endpoint_id;
  if v_endpoint.status is null or v_endpoint.status not in ('paused', 'disabled') then
    return null;
  elsif v_endpoint.status_reason like 'unreadable: %' then
    return outbox.rewrite_command(v_endpoint);
  end if;
  -- Of all its holds, for status_reason tells the first alone. A hold says why as its rule does.
  select pg_catalog.bool_or(f.new_token), pg_catalog.bool_or(f.code = 'blocked')
  into v_token, v_blocked
  from outbox.channel_hold h
  join outbox.failure_rule f on f.kind = 'whatsapp'
    and h.why = pg_catalog.split_part(f.code, '.', 1) || ' ' || f.title
  where h.channel_id = p_endpoint_id and h.held;
  return 'select ' || pg_catalog.concat_ws(', ',
    case
      when v_token then pg_catalog.format('outbox.set_channel_token(%L, %L, %L)',
        v_endpoint.org_id, p_endpoint_id, '<the new token>')
    end,
    case
      when v_blocked and outbox.setting_value('whatsapp.graph_url') #>> '{}' <> v_graph_url
      then pg_catalog.format('outbox.set_setting(%L, %L)', 'whatsapp.graph_url',
        pg_catalog.to_jsonb(v_graph_url))
    end,
    pg_catalog.format('outbox.resume_endpoint(%L)', p_endpoint_id));
end
$$;
comment on function outbox.release_command(uuid) is
  'The statement that releases a paused or disabled endpoint; null when it is neither. Of a '
  'channel whose access token failed it begins with set_channel_token(), whose <the new token> is '
  'to be replaced: as it stands it is refused, and nothing is released. For an endpoint with an '
  'unreadable secret: the statement that sets the secret again.';
