-- Slack, and whatever else takes its incoming webhooks (Mattermost, Rocket.Chat, Discord behind
-- /slack): an event becomes a line of text in a channel. The URL of such a webhook is the right to
-- write there, so it is a credential: in Vault whole, in the endpoint's row without its path.

insert into outbox.endpoint_kind (kind, retry, credentials_remedy, rewrite_command, create_function,
  change_function)
values ('slack', '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "max_retries": 5,
    "jitter": true}',
  'set_slack_url() sets it again', $$outbox.set_slack_url(%2$L, '<the URL>')$$,
  'outbox.create_slack_of_wire', 'outbox.change_slack_of_wire');

create function outbox.slack_url_shown(p_url text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.substring(p_url, '^[^/]*//[^/?#]*') || '/…';
end
$$;
comment on function outbox.slack_url_shown(text) is
  'What is shown of the URL of an incoming webhook: https://hooks.slack.com/…';

create function outbox.put_slack_url(p_endpoint_id uuid, p_url text) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_url(p_url);
  update outbox.endpoint e set url = outbox.slack_url_shown(p_url) where e.id = p_endpoint_id;
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
  -- Slack takes one message a second of a webhook, with short bursts above it.
  insert into outbox.endpoint (org_id, kind, url, description, max_in_flight, rate_per_second,
    rate_burst, created_at, updated_at)
  values (p_org_id, 'slack', '', coalesce(p_description, ''), 2, 1, 5, v_now, v_now)
  returning id into v_id;
  perform outbox.put_slack_url(v_id, p_url);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, 'none');
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_slack_endpoint(text, text[], text, text, jsonb, text) is
  'Makes an endpoint that writes events into a channel through a Slack-compatible incoming '
  'webhook, one a second: {"id"}. For what the system says of itself: p_org_id => ''outhook''. '
  'OH001.';

create function outbox.set_slack_url(p_endpoint_id uuid, p_url text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if (outbox.lock_endpoint(p_endpoint_id)).kind <> 'slack' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind slack', p_endpoint_id),
      hint = 'create_slack_endpoint() makes one';
  end if;
  perform outbox.put_slack_url(p_endpoint_id, p_url);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;
comment on function outbox.set_slack_url(uuid, text) is
  'Gives a Slack endpoint another incoming webhook, from the next claim on: {"id", "url" as it is '
  'shown}. OH001, OH002, OH004.';

-- Slack answers with a word of its own, and whoever imitates it often with a status alone.
insert into outbox.failure_rule (kind, code, action, title, note) values
  ('slack', '404', 'hold', 'The webhook is not there', 'Compatible services say so by the status'),
  ('slack', 'action_prohibited', 'hold', 'An admin restricts the webhook', ''),
  ('slack', 'channel_is_archived', 'hold', 'The channel is archived', ''),
  ('slack', 'channel_not_found', 'hold', 'The channel is not there', ''),
  ('slack', 'invalid_payload', 'fail', 'The message is not understood', ''),
  ('slack', 'invalid_token', 'hold', 'The webhook''s URL is not valid', ''),
  ('slack', 'no_active_hooks', 'hold', 'The webhook is switched off', ''),
  ('slack', 'no_service', 'hold', 'The webhook is switched off or removed', ''),
  ('slack', 'no_team', 'hold', 'The workspace is not there', ''),
  ('slack', 'posting_to_general_channel_denied', 'hold', 'Nobody but admins may write there', ''),
  ('slack', 'rollup_error', 'retry', 'Slack has an error of its own', ''),
  ('slack', 'team_disabled', 'hold', 'The workspace is switched off', '');
