-- Endpoints. Operators and the API write these rows. A run only reads them and never locks them, so
-- a pause or a new URL waits for no run. Runs write to the gate of the endpoint instead
-- (engine/queue/gate).

create table outbox.endpoint (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  org_id text not null,
  kind text not null default 'webhook'
    constraint endpoint_kind_is_known references outbox.endpoint_kind (kind),
  url text not null,
  description text not null default '',
  header_names text[] not null default '{}',
  headers_vault_id uuid,
  payload text not null default 'envelope'
    constraint endpoint_payload_is_known check (payload in ('envelope', 'data')),
  timeout_ms integer not null default outbox.setting_int('endpoint.timeout_ms')
    constraint endpoint_timeout_is_sensible check (timeout_ms between 500 and 60000),
  ordering text not null default 'none'
    constraint endpoint_ordering_is_known check (ordering in ('none', 'partition', 'endpoint')),
  max_in_flight integer not null default outbox.setting_int('endpoint.max_in_flight')
    constraint endpoint_max_in_flight_is_positive check (max_in_flight between 1 and 1000),
  quantum integer not null default outbox.setting_int('endpoint.quantum')
    constraint endpoint_quantum_is_positive check (quantum between 1 and 1000),
  rate_per_second double precision
    constraint endpoint_rate_is_positive check (rate_per_second between 0.001 and 100000),
  rate_burst integer not null default outbox.setting_int('endpoint.rate_burst')
    constraint endpoint_burst_is_positive check (rate_burst between 1 and 100000),
  lane_spacing_ms integer not null default 0
    constraint endpoint_lane_spacing_is_sensible check (lane_spacing_ms between 0 and 3600000),
  retry jsonb,
  retry_4xx boolean not null default false,
  on_dead_letter text not null default 'continue'
    constraint endpoint_on_dead_letter_is_known check (on_dead_letter in ('continue', 'halt')),
  breaker_enabled boolean not null default outbox.setting_on('breaker.enabled'),
  breaker_threshold integer not null default outbox.setting_int('breaker.threshold')
    constraint endpoint_breaker_threshold_is_positive check (breaker_threshold between 1 and 1000),
  breaker_open_ms integer not null default outbox.setting_int('breaker.open_ms')
    constraint endpoint_breaker_open_is_sensible check (breaker_open_ms between 1000 and 3600000),
  status text not null default 'enabled'
    constraint endpoint_status_is_known
    check (status in ('enabled', 'paused', 'disabled', 'deleted')),
  status_reason text,
  ramp_from timestamptz not null default 'epoch',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  credentials_vault_id uuid,
  config jsonb,
  is_purged boolean not null default false
);
comment on table outbox.endpoint is
  'The endpoints with all their settings. version increases with each change. The defaults come '
  'from outbox.setting at the time of creation, and do not change later.';
comment on column outbox.endpoint.header_names is
  'The names of the custom headers. Vault stores the values, and only dispatch() reads them. '
  'set_headers() changes them.';
comment on column outbox.endpoint.lane_spacing_ms is
  'How long an ordered lane pauses after each delivery, in milliseconds.';
comment on column outbox.endpoint.retry is
  'The retry policy (see calculate_delay); null: the preset of the kind.';
comment on column outbox.endpoint.retry_4xx is
  'Whether every 4xx but 410 is retried; by default only 408, 425 and 429 are.';
comment on column outbox.endpoint.on_dead_letter is
  'Whether an ordered lane continues after a dead letter or stops until resume_lane().';
comment on column outbox.endpoint.ramp_from is
  'When the endpoint was last resumed. From then on its limit of requests in flight rises to '
  'max_in_flight.';
comment on column outbox.endpoint.credentials_vault_id is
  'Secret values of kinds other than webhook, as JSON in Vault. put_credentials() writes them and '
  'only dispatch() reads them.';
comment on column outbox.endpoint.config is
  'The settings that only this kind of endpoint has and that are not secret; null if it has none.';
comment on column outbox.endpoint.is_purged is
  'Of a deleted endpoint: purge_deleted() has removed its deliveries, secrets and gate.';
create index endpoint_org on outbox.endpoint (org_id, created_at, id) where status <> 'deleted';
create index endpoint_updated on outbox.endpoint (updated_at);
create index endpoint_to_purge on outbox.endpoint (org_id, id)
where status = 'deleted' and not is_purged;

create function outbox.keep_endpoint() returns trigger
language plpgsql set search_path = ''
as $$
begin
  -- Its subscriptions, history and messages have copies of them: an endpoint with another
  -- organisation would still get the events of the first one.
  raise exception using errcode = 'OH004',
    message = pg_catalog.format('endpoint %s keeps its id, organisation and kind', old.id),
    hint = 'Create another endpoint, and delete this one';
end
$$;
comment on function outbox.keep_endpoint() is
  'Trigger: OH004 for an update that changes the id, the organisation or the kind of an endpoint.';

create trigger endpoint_is_kept
  before update of id, org_id, kind on outbox.endpoint
  for each row when ((old.id, old.org_id, old.kind) is distinct from (new.id, new.org_id, new.kind))
  execute function outbox.keep_endpoint();

create trigger endpoint_waits_for_move
  before insert or update of status on outbox.endpoint
  for each row when (new.status = 'enabled')
  execute function outbox.keep_moving();

create trigger endpoint_was_moved
  before update or delete on outbox.endpoint
  for each row when (old.status <> 'deleted')
  execute function outbox.keep_moved();

create function outbox.check_endpoint(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql stable set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  select *
  into v_endpoint
  from outbox.endpoint e
  where e.id = p_endpoint_id and e.status <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist',
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'Use an id from create_endpoint() or from outbox.endpoint_status';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.check_endpoint(uuid) is
  'The endpoint. OH002 if it does not exist or was deleted.';

create function outbox.lock_endpoint(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  -- Read it after the lock: another transaction may have deleted it, which is final.
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;
  v_endpoint := outbox.check_endpoint(p_endpoint_id);
  perform outbox.refuse_arrival(v_endpoint);
  return v_endpoint;
end
$$;
comment on function outbox.lock_endpoint(uuid) is
  'Locks and returns an endpoint, for a change of it or of its secrets, headers or subscriptions. '
  'OH002 if it does not exist or was deleted; OH004: see refuse_arrival(). No run waits for this '
  'row.';
