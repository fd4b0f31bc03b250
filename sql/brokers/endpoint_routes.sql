-- The HTTP API calls these functions by the names in endpoint_kind.

create function outbox.broker_to_wire(p_broker jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routing_key' then 'routingKey' when 'dlq_exchange' then 'dlqExchange'
        when 'dlq_routing_key' then 'dlqRoutingKey' when 'dlq_topic' then 'dlqTopic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b);
end
$$;
comment on function outbox.broker_to_wire(jsonb) is
  'The settings of a broker with the names of the API (camelCase); null if there are none.';

create function outbox.broker_of_wire(p_broker jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  if pg_catalog.jsonb_typeof(p_broker) is distinct from 'object' then
    return p_broker;
  end if;
  return coalesce((
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routingKey' then 'routing_key' when 'dlqExchange' then 'dlq_exchange'
        when 'dlqRoutingKey' then 'dlq_routing_key' when 'dlqTopic' then 'dlq_topic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b), '{}');
end
$$;
comment on function outbox.broker_of_wire(jsonb) is
  'The settings of a broker from the API with the names of SQL (snake_case).';

create or replace function outbox.endpoint_members(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when p_endpoint.kind in ('rabbitmq', 'kafka') then pg_catalog.jsonb_build_object(
      'broker', outbox.broker_to_wire(p_endpoint.config), 'config', null)
    else '{}'
  end;
end
$$;

create function outbox.create_slack_of_wire(
  p_org_id text, p_endpoint jsonb, p_event_types text[]
) returns jsonb
language plpgsql set search_path = ''
as $$
begin
  perform outbox.refuse_members(p_endpoint, 'slack',
    array['broker', 'config', 'credentials', 'ordering', 'payload', 'retry', 'secret'],
    'Omit it');
  return outbox.create_slack_endpoint(p_endpoint ->> 'url', p_event_types, p_org_id,
    p_headers => coalesce(p_endpoint -> 'headers', '{}'), p_filter => p_endpoint ->> 'filter');
end
$$;
comment on function outbox.create_slack_of_wire(text, jsonb, text[]) is
  'Creates a Slack endpoint from a request of the API: {"id"}. OH001.';

create function outbox.change_slack_of_wire(
  p_endpoint_id uuid, p_change jsonb
) returns jsonb
language plpgsql set search_path = ''
as $$
begin
  if p_change ? 'url' then
    perform outbox.put_slack_url(p_endpoint_id, p_change ->> 'url');
  end if;
  return p_change - 'url';
end
$$;
comment on function outbox.change_slack_of_wire(uuid, jsonb) is
  'Changes the URL of a Slack endpoint if p_change contains it; returns the other members. OH001.';

create function outbox.create_broker_of_wire(
  p_org_id text, p_endpoint jsonb, p_event_types text[]
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_kind text := p_endpoint ->> 'kind';
  v_retry jsonb := outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null'));
  v_new jsonb;
begin
  perform outbox.refuse_members(p_endpoint, v_kind, array['config', 'secret', 'url'],
    'Give broker, and credentials if the broker needs them');
  perform outbox.check_retry(v_retry);
  v_new := outbox.create_broker_endpoint(v_kind,
    outbox.broker_of_wire(p_endpoint -> 'broker'), nullif(p_endpoint -> 'credentials', 'null'),
    p_event_types, p_org_id, p_ordering => p_endpoint ->> 'ordering',
    p_headers => coalesce(p_endpoint -> 'headers', '{}'), p_filter => p_endpoint ->> 'filter');
  update outbox.endpoint e set retry = v_retry where e.id = (v_new ->> 'id')::uuid;
  return v_new;
end
$$;
comment on function outbox.create_broker_of_wire(text, jsonb, text[]) is
  'Creates a broker endpoint from a request of the API: {"id"}. OH001.';

create function outbox.change_broker_of_wire(
  p_endpoint_id uuid, p_change jsonb
) returns jsonb
language plpgsql set search_path = ''
as $$
begin
  if p_change ? 'url' then
    perform outbox.invalid('url', 'cannot be set for a broker',
      'Change broker with a secret key, or call outbox.set_broker()');
  end if;
  if p_change ? 'broker' or p_change ? 'credentials' then
    perform outbox.change_broker(outbox.check_endpoint(p_endpoint_id),
      outbox.broker_of_wire(coalesce(p_change -> 'broker', '{}')),
      nullif(p_change -> 'credentials', 'null'));
  end if;
  return p_change - 'broker' - 'credentials';
end
$$;
comment on function outbox.change_broker_of_wire(uuid, jsonb) is
  'Changes the settings and credentials of a broker that p_change contains; returns the other '
  'members. OH001, OH004.';
