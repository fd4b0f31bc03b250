-- Endpoints, what they want, and their secrets. This is configuration: people write it, runs only
-- read it, and no run ever locks it, so that a pause or a new URL waits for nobody.

create table outbox.endpoint (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  org_id text not null,
  kind text not null default 'webhook'
    constraint endpoint_kind_is_known check (
      kind in ('webhook', 'whatsapp', 'slack', 'rabbitmq', 'kafka')
    ),
  url text not null,
  description text not null default '',
  header_names text[] not null default '{}',
  headers_vault_id uuid,
  payload text not null default 'envelope'
    constraint endpoint_payload_is_known check (payload in ('envelope', 'data')),
  timeout_ms integer not null default 15000
    constraint endpoint_timeout_is_sensible check (timeout_ms between 500 and 60000),
  ordering text not null default 'none'
    constraint endpoint_ordering_is_known check (ordering in ('none', 'partition', 'endpoint')),
  max_in_flight integer not null default 50
    constraint endpoint_max_in_flight_is_positive check (max_in_flight between 1 and 1000),
  quantum integer not null default 25
    constraint endpoint_quantum_is_positive check (quantum between 1 and 1000),
  rate_per_second double precision
    constraint endpoint_rate_is_positive check (rate_per_second between 0.001 and 100000),
  rate_burst integer not null default 10
    constraint endpoint_burst_is_positive check (rate_burst between 1 and 100000),
  lane_spacing_ms integer not null default 0
    constraint endpoint_lane_spacing_is_sensible check (lane_spacing_ms between 0 and 3600000),
  retry jsonb,
  retry_4xx boolean not null default false,
  on_dead_letter text not null default 'continue'
    constraint endpoint_on_dead_letter_is_known check (on_dead_letter in ('continue', 'halt')),
  breaker_enabled boolean not null default true,
  breaker_threshold integer not null default 5
    constraint endpoint_breaker_threshold_is_positive check (breaker_threshold between 1 and 1000),
  breaker_open_ms integer not null default 30000
    constraint endpoint_breaker_open_is_sensible check (breaker_open_ms between 1000 and 3600000),
  state text not null default 'enabled'
    constraint endpoint_state_is_known
    check (state in ('enabled', 'paused', 'disabled', 'deleted')),
  state_reason text,
  ramp_from timestamptz not null default 'epoch',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  credentials_vault_id uuid,
  broker jsonb
);
comment on table outbox.endpoint is
  'Where deliveries go, with every setting of the endpoint. version grows with each change.';
comment on column outbox.endpoint.header_names is
  'The custom headers; their values are in Vault and are read by dispatch() alone. set_headers() '
  'changes them.';
comment on column outbox.endpoint.lane_spacing_ms is
  'How long an ordered lane rests behind each delivery.';
comment on column outbox.endpoint.retry is
  'The retry policy (see calculate_delay); null: the preset of the kind.';
comment on column outbox.endpoint.retry_4xx is
  'Whether every 4xx but 410 is retried; by default only 408, 425 and 429 are.';
comment on column outbox.endpoint.on_dead_letter is
  'Whether an ordered lane goes on behind a dead letter or stands still until resume_lane().';
comment on column outbox.endpoint.ramp_from is
  'When the endpoint was last resumed: from then on it is served more and more, up to '
  'max_in_flight.';
comment on column outbox.endpoint.credentials_vault_id is
  'What a kind other than webhook needs and nobody may read, as JSON in Vault; put_credentials() '
  'writes it and dispatch() alone reads it.';
comment on column outbox.endpoint.broker is
  'The settings that only a broker has (see create_broker_endpoint); null for other kinds.';
create index endpoint_org on outbox.endpoint (org_id, created_at, id) where state <> 'deleted';
create index endpoint_updated on outbox.endpoint (updated_at);

create table outbox.subscription (
  org_id text not null,
  pattern text not null,
  endpoint_id uuid not null,
  filter jsonpath,
  created_at timestamptz not null,
  primary key (org_id, pattern, endpoint_id)
);
comment on table outbox.subscription is
  'Which event types an endpoint wants: an exact type, a prefix such as order.*, or *. An event '
  'goes to subscriptions that are not younger than it. filter is a jsonpath over the payload: '
  'the event goes where it finds something or is true.';
create index subscription_endpoint on outbox.subscription (endpoint_id);

create table outbox.endpoint_secret (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  endpoint_id uuid not null,
  vault_id uuid not null,
  scheme text not null default 'v1'
    constraint endpoint_secret_scheme_is_known check (scheme in ('v1', 'v1a')),
  public_key text,
  created_at timestamptz not null,
  expires_at timestamptz
);
comment on table outbox.endpoint_secret is
  'The signing secrets of an endpoint, kept in Vault; all that have not expired sign.';
create index endpoint_secret_endpoint on outbox.endpoint_secret (endpoint_id, created_at desc);

create function outbox.type_patterns(p_type text) returns text[]
language plpgsql immutable strict set search_path = ''
as $$
declare
  v_parts text[] := pg_catalog.string_to_array(p_type, '.');
  v_patterns text[] := array['*'];
begin
  for v_n in 1 .. pg_catalog.cardinality(v_parts) - 1 loop
    v_patterns := v_patterns || (pg_catalog.array_to_string(v_parts[1:v_n], '.') || '.*');
  end loop;
  return v_patterns || p_type;
end
$$;
comment on function outbox.type_patterns(text) is
  'Every pattern that a type matches: a.b.c gives *, a.*, a.b.* and a.b.c.';

create function outbox.check_endpoint(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql stable set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  select *
  into v_endpoint
  from outbox.endpoint e
  where e.id = p_endpoint_id and e.state <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist',
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'create_endpoint() returns the id of an endpoint; outbox.endpoint_status lists them';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.check_endpoint(uuid) is
  'The endpoint, or OH002 when there is none or it was deleted.';

create function outbox.check_filter(p_filter text) returns jsonpath
language plpgsql immutable set search_path = ''
as $$
declare
  v_filter jsonpath;
  v_walks integer;
begin
  begin
    v_filter := p_filter::jsonpath;
  exception when syntax_error or invalid_text_representation or invalid_regular_expression
    or untranslatable_character or numeric_value_out_of_range
  then
    raise exception using errcode = 'OH001',
      message = pg_catalog.format('filter is not a jsonpath: %s', sqlerrm),
      hint = 'Expected something like $.total ? (@ > 100) or $.country == "DE"';
  end;
  -- Two walks multiply: $[*] ? (@ == $[*]) takes minutes for a payload of 256 KiB.
  select pg_catalog.count(*) into v_walks
  from pg_catalog.regexp_matches(
    pg_catalog.regexp_replace(v_filter::text, '"([^"\\]|\\.)*"', '""', 'g'),
    '\[\*\]|\.\*\*?|\[[^]]* to [^]]*\]', 'g');
  if v_walks > 1 then
    perform outbox.invalid('filter', 'walks the payload more than once',
      'Use [*], .*, .** or a range once; name the other members, or filter at the receiver');
  end if;
  return v_filter;
end
$$;
comment on function outbox.check_filter(text) is
  'The filter as jsonpath, or OH001: with the parser''s reason, or because its cost would grow '
  'with the square of the payload.';

create function outbox.subscribe(
  p_endpoint_id uuid, p_event_types text[], p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_org text := (outbox.check_endpoint(p_endpoint_id)).org_id;
  v_pattern text;
begin
  foreach v_pattern in array coalesce(p_event_types, '{}') loop
    if v_pattern is null or v_pattern !~ '^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$'
      or pg_catalog.length(v_pattern) > 128
    then
      perform outbox.invalid('event_types',
        pg_catalog.format('holds %s', pg_catalog.quote_nullable(pg_catalog.left(v_pattern, 140))),
        'Expected an event type such as order.paid, a prefix such as order.*, or *');
    end if;
  end loop;
  insert into outbox.subscription as s (org_id, pattern, endpoint_id, filter, created_at)
  select v_org, p.pattern, p_endpoint_id, outbox.check_filter(p_filter), outbox.clock()
  from (select distinct pg_catalog.unnest(p_event_types) as pattern) p
  on conflict (org_id, pattern, endpoint_id) do update set filter = excluded.filter;
  return (
    select pg_catalog.jsonb_build_object('endpoint_id', p_endpoint_id,
      'event_types', pg_catalog.jsonb_agg(s.pattern order by s.pattern))
    from outbox.subscription s where s.endpoint_id = p_endpoint_id
  );
end
$$;
comment on function outbox.subscribe(uuid, text[], text) is
  'Adds event types (exact, order.*, *) to an endpoint, each with the filter (jsonpath over the '
  'payload, or null), which replaces an earlier one; returns {"endpoint_id", "event_types"} with '
  'all it has now. OH001, OH002.';

create function outbox.check_choice(p_field text, p_value text, p_choices text[]) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if p_value is null or p_value <> all (p_choices) then
    perform outbox.invalid(p_field,
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_value, 60))),
      'Expected one of ' || pg_catalog.array_to_string(p_choices, ', '));
  end if;
end
$$;
comment on function outbox.check_choice(text, text, text[]) is
  'Raises OH001 unless a value is one of the choices.';

create function outbox.check_range(
  p_field text, p_value double precision, p_lowest double precision, p_highest double precision
) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if p_value is null or not p_value between p_lowest and p_highest then
    perform outbox.invalid(p_field, pg_catalog.format('is %s', coalesce(p_value::text, 'null')),
      pg_catalog.format('Expected a number from %s to %s', p_lowest, p_highest));
  end if;
end
$$;
comment on function
  outbox.check_range(text, double precision, double precision, double precision) is
  'Raises OH001 unless a number lies within its bounds.';

create function outbox.create_endpoint(
  p_url text,
  p_event_types text[] default '{*}',
  p_org_id text default 'default',
  p_secret text default null,
  p_description text default '',
  p_headers jsonb default '{}',
  p_payload text default 'envelope',
  p_timeout_ms integer default 15000,
  p_ordering text default 'none',
  p_max_in_flight integer default 50,
  p_quantum integer default 25,
  p_retry jsonb default null,
  p_rate_per_second double precision default null,
  p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_secret text := outbox.check_secret(coalesce(p_secret, outbox.new_secret()));
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_headers(p_headers);
  perform outbox.check_retry(p_retry);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_choice('ordering', p_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_range('timeout_ms', p_timeout_ms, 500, 60000);
  perform outbox.check_range('max_in_flight', p_max_in_flight, 1, 1000);
  perform outbox.check_range('quantum', p_quantum, 1, 1000);
  perform outbox.check_range('rate_per_second', coalesce(p_rate_per_second, 1), 0.001, 100000);
  insert into outbox.endpoint (org_id, url, description, payload,
    timeout_ms, ordering, max_in_flight, quantum, retry, rate_per_second,
    created_at, updated_at)
  values (p_org_id, outbox.check_url(p_url), coalesce(p_description, ''), p_payload,
    p_timeout_ms, p_ordering, p_max_in_flight, p_quantum, p_retry, p_rate_per_second,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_secret(v_id, v_secret, v_now);
  perform outbox.add_gate(v_id, p_ordering);
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id, 'secret', v_secret);
end
$$;
comment on function outbox.create_endpoint(
  text, text[], text, text, text, jsonb, text, integer, text, integer, integer, jsonb,
  double precision, text) is
  'Makes a webhook endpoint and returns {"id": uuid, "secret": "whsec_…"}; the secret is shown '
  'this once. OH001 names the argument that is wrong.';
