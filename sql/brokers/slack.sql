-- Slack, and services with compatible incoming webhooks (Mattermost, Rocket.Chat, Discord with
-- /slack): an event becomes a line of text in a channel. Anybody who knows the URL of such a
-- webhook can write to the channel, so the full URL is a credential in Vault. The row of the
-- endpoint has the URL without its path.

insert into outbox.endpoint_kind (kind, retry, credentials_remedy, rewrite_command, create_function,
  change_function)
values ('slack', '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "max_retries": 5,
    "jitter": true}',
  'set_slack_url() sets it again', $$outbox.set_slack_url(%2$L, '<the URL>')$$,
  'outbox.create_slack_of_wire', 'outbox.change_slack_of_wire');

create function outbox.masked_slack_url(p_url text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.substring(p_url, '^[^/]*//[^/?#]*') || '/…';
end
$$;
comment on function outbox.masked_slack_url(text) is
  'The URL of an incoming webhook without its path: https://hooks.slack.com/…';

create function outbox.put_slack_url(p_endpoint_id uuid, p_url text) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_url(p_url);
  update outbox.endpoint e set url = outbox.masked_slack_url(p_url) where e.id = p_endpoint_id;
  perform outbox.put_credentials(p_endpoint_id, pg_catalog.jsonb_build_object('url', p_url));
end
$$;
comment on function outbox.put_slack_url(uuid, text) is
  'Stores the URL of an incoming webhook. OH001.';

create function outbox.create_slack_endpoint(
  p_url text,
  p_event_types text[] default '{*}',
  p_org_id text default 'default',
  p_description text default '',
  p_headers jsonb default '{}',
  p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_headers(p_headers);
  perform outbox.check_endpoint_limit(p_org_id);
  -- Slack accepts one message a second for each webhook, with short bursts.
  insert into outbox.endpoint (org_id, kind, url, description, max_in_flight, rate_per_second,
    rate_burst, created_at, updated_at)
  values (p_org_id, 'slack', '', coalesce(p_description, ''), 2, 1, 5, v_now, v_now)
  returning id into v_id;
  perform outbox.put_slack_url(v_id, p_url);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, 'none');
  perform outbox.add_subscriptions(v_id, p_event_types, p_filter);
  perform outbox.note_endpoint(v_id, 'CREATED', 'Endpoint created');
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_slack_endpoint(text, text[], text, text, jsonb, text) is
  'Creates an endpoint that writes events into a channel through a Slack-compatible incoming '
  'webhook, one a second: {"id"}. For operational events: p_org_id => ''outhook''. OH001, '
  'OH010.';

create function outbox.set_slack_url(
  p_endpoint_id uuid, p_url text, p_headers jsonb default '{}'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_before outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);
begin
  if v_before.kind <> 'slack' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind slack', p_endpoint_id),
      hint = 'Create one with create_slack_endpoint()';
  end if;
  perform outbox.put_slack_url(p_endpoint_id, p_url);
  perform outbox.finish_change(v_before, p_headers);
  perform outbox.note_change(p_endpoint_id, array['url'], p_headers);
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;
comment on function outbox.set_slack_url(uuid, text, jsonb) is
  'Replaces the incoming webhook of a Slack endpoint, from the next claim on: {"id", "url" '
  'without its path}. p_headers changes custom headers as in set_headers(), and names all of them '
  'if the URL leads to another host. OH001, OH002, OH004.';

-- Slack responds with an error code as text. Compatible services often respond with the HTTP status
-- only.
insert into outbox.failure_rule (kind, code, action, title, note) values
  ('slack', '404', 'hold', 'The webhook does not exist',
    'Compatible services respond with this status'),
  ('slack', 'action_prohibited', 'hold', 'An admin restricts the webhook', ''),
  ('slack', 'channel_is_archived', 'hold', 'The channel is archived', ''),
  ('slack', 'channel_not_found', 'hold', 'The channel does not exist', ''),
  ('slack', 'invalid_payload', 'fail', 'The message is invalid', ''),
  ('slack', 'invalid_token', 'hold', 'The URL of the webhook is invalid', ''),
  ('slack', 'no_active_hooks', 'hold', 'The webhook is disabled', ''),
  ('slack', 'no_service', 'hold', 'The webhook is disabled or removed', ''),
  ('slack', 'no_team', 'hold', 'The workspace does not exist', ''),
  ('slack', 'posting_to_general_channel_denied', 'hold',
    'Only admins may write to this channel', ''),
  ('slack', 'rollup_error', 'retry', 'Internal error of Slack', ''),
  ('slack', 'team_disabled', 'hold', 'The workspace is disabled', '');
