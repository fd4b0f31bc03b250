-- How many endpoints and subscriptions an organisation may have. Each of them costs memory in every
-- claim or time in every routing. Deleted endpoints and ended subscriptions do not count.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.endpoints', '1000', 'integer', 1, 1000000, true,
    'How many endpoints an organisation may have, of all kinds'),
  ('limit.endpoint_subscriptions', '100', 'integer', 1, 10000, true,
    'How many event types an endpoint may be subscribed to'),
  ('limit.subscriptions', '10000', 'integer', 1, 1000000, true,
    'How many event types all endpoints of an organisation may be subscribed to, added up'),
  ('limit.token_share', '100', 'integer', 1, 1000, true,
    'The largest maxInFlight and quantum of an endpoint that a token may set; a secret key may '
      'set up to 1000');

create function outbox.take_endpoint_turn(p_org_id text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  perform outbox.take_limit_turn(p_org_id, 'limit.endpoints');
end
$$;
comment on function outbox.take_endpoint_turn(text) is
  'Waits until no other transaction adds endpoints or subscriptions of this organisation. One turn '
  'for both, taken before any endpoint is locked: so two transactions that change several '
  'endpoints in opposite orders do not wait for each other. locks: the turn of limit.endpoints.';

create function outbox.check_endpoint_limit(p_org_id text) returns void
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.take_endpoint_turn(p_org_id);
  perform outbox.check_limit(p_org_id, 'limit.endpoints',
    (
      select pg_catalog.count(*) + 1 from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted'
    ),
    'organisation ' || p_org_id, 'endpoints', 'Delete endpoints that are no longer used');
end
$$;
comment on function outbox.check_endpoint_limit(text) is
  'Raises OH010 if an organisation may have no further endpoint. Every function that creates one '
  'calls it before. locks: take_endpoint_turn().';

create function outbox.check_subscription_limits(p_endpoint outbox.endpoint) returns void
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.check_limit(p_endpoint.org_id, 'limit.endpoint_subscriptions',
    (
      select pg_catalog.count(*) from outbox.subscription s where s.endpoint_id = p_endpoint.id
    ),
    'endpoint ' || p_endpoint.id, 'subscriptions', 'Subscribe to a prefix such as order.*');
  perform outbox.check_limit(p_endpoint.org_id, 'limit.subscriptions',
    (
      select pg_catalog.count(*) from outbox.subscription s where s.org_id = p_endpoint.org_id
    ),
    'organisation ' || p_endpoint.org_id, 'subscriptions',
    'Subscribe to a prefix such as order.*, or delete endpoints that are no longer used');
end
$$;
comment on function outbox.check_subscription_limits(outbox.endpoint) is
  'Raises OH010 if an endpoint or its organisation has too many subscriptions. It is called after '
  'they were added. The caller has the turn of the organisation (take_endpoint_turn()).';
