-- Settings: one row each, with its type, bounds and description. A change is one UPDATE without a
-- lock that a run waits for, because no setting is a constraint of a table.
-- foundation/setting_check validates the values. A module inserts its settings in its own folder.

create table outbox.setting (
  name text primary key,
  value jsonb not null,
  type text not null constraint setting_type_is_known check (
    type in ('boolean', 'integer', 'text', 'text[]')
  ),
  lowest bigint,
  highest bigint,
  form text,
  form_problem text,
  is_url boolean not null default false,
  by_org boolean not null default false,
  description text not null,
  updated_at timestamptz not null default pg_catalog.now(),
  constraint setting_form_says_why check ((form is null) = (form_problem is null)),
  constraint setting_url_has_a_form check (form is not null or not is_url)
);
comment on table outbox.setting is
  'All settings with their types, bounds and meanings; set_setting() changes one. form: the '
  'regular expression for a text; form_problem: the error for an invalid text; is_url: the text '
  'is empty, or a URL to which a path can be appended; by_org: set_org_setting() may give one '
  'organisation another value.';

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('worker.enabled', 'true', 'boolean', null, null,
    'If off, there are no kicks and no claims; publishing continues'),
  ('worker.poll_interval_ms', '1000', 'integer', 25, 60000,
    'How often the tick checks for work, in whole seconds and at least once a second; an idle '
    'worker polls four times as often, about three times after a minute, and a busy run at most '
    'every 25 ms'),
  ('worker.batch_size', '400', 'integer', 1, 1000,
    'The largest number of deliveries that one dispatch claims'),
  ('worker.max_runs', '4', 'integer', 1, 100,
    'The largest number of edge runs at a time; a further run ends at once'),
  ('worker.max_wall_ms', '25000', 'integer', 1000, 300000,
    'How long an edge run claims deliveries, from its first response of the database; the platform '
    'ends a function after 150 s'),
  ('worker.max_deliveries', '2000', 'integer', 1, 1000000,
    'How many deliveries an edge run sends before it ends; the platform allows a run 2 s of CPU'),
  ('worker.notify', 'true', 'boolean', null, null,
    'Whether a commit notifies the workers if all of them sleep; if off, they find new events when '
    'they poll. Always off on a server with max_prepared_transactions above 0'),
  ('kick.on_commit', 'true', 'boolean', null, null,
    'Whether a commit sends a kick if no run is active; if off, only the tick sends kicks'),
  ('kick.quiet_ms', '500', 'integer', 50, 60000,
    'A commit sends no kick within this time after the last kick or after a run has polled'),
  ('publish.max_body_bytes', '262144', 'integer', 1024, 1048576, 'The largest payload, in bytes'),
  ('route.batch_size', '1000', 'integer', 1, 2000,
    'The largest number of events that one dispatch routes'),
  ('egress.allow_http', 'false', 'boolean', null, null,
    'Whether http URLs are allowed, for local development'),
  ('egress.allow_cidrs', '[]', 'text[]', null, null,
    'Private networks that deliveries may reach, in CIDR notation'),
  ('egress.allow_ports', '["80", "443", "1024-65535"]', 'text[]', null, null,
    'Ports that deliveries may use, single or as ranges'),
  ('egress.deny_ports',
    '["1433", "1521", "2049", "2375-2380", "3306", "3389", "5432", "6379", "6443", '
    '"9200", "10250", "11211", "27017"]', 'text[]', null, null,
    'Exceptions from egress.allow_ports: the usual ports of databases and remote control'),
  ('response.success_bytes', '256', 'integer', 0, 16384,
    'How many bytes of a 2xx response are stored'),
  ('response.failure_bytes', '4096', 'integer', 0, 16384,
    'How many bytes of any other response are stored'),
  ('endpoint.timeout_ms', '15000', 'integer', 500, 60000,
    'Default for a new endpoint: the timeout of a whole request'),
  ('endpoint.max_in_flight', '50', 'integer', 1, 1000,
    'Default for a new endpoint: how many requests may be in flight'),
  ('endpoint.quantum', '25', 'integer', 1, 1000,
    'Default for a new endpoint: how many deliveries are claimed before it is the turn of the '
    'next endpoint'),
  ('endpoint.rate_burst', '10', 'integer', 1, 100000,
    'Default for a new endpoint with a rate limit: how many requests it may get at once after a '
    'pause'),
  ('breaker.enabled', 'true', 'boolean', null, null,
    'Default for a new endpoint: whether it has a breaker'),
  ('breaker.threshold', '5', 'integer', 1, 1000,
    'Default for a new endpoint: how many failures in a row open its breaker'),
  ('breaker.open_ms', '30000', 'integer', 1000, 3600000,
    'Default for a new endpoint: how long its breaker stays open before the first probe'),
  ('delivery.max_lost_leases', '5', 'integer', 3, 50,
    'After how many lost leases in a row a delivery becomes a dead letter; after two it is sent '
    'alone'),
  ('retry_after.max_s', '3600', 'integer', 1, 86400,
    'The longest time that a Retry-After header can delay an endpoint'),
  ('idempotency.window_hours', '24', 'integer', 1, 168,
    'How long the idempotency key of an event, a saga or an API request is stored; at most '
    'event.retention_days'),
  ('endpoint.disable_after_days', '5', 'integer', 1, 365,
    'An endpoint that has failed for this many days without one success is disabled'),
  ('dead_letter.retention_days', '90', 'integer', 1, 3650,
    'How long a replayed or discarded dead letter is stored; every other dead letter is stored '
    'for ever'),
  ('attempt.retention_days', '8', 'integer', 8, 365, 'How long attempts are stored'),
  ('metrics.per_endpoint', 'false', 'boolean', null, null,
    'Whether the metrics count attempts for each endpoint and name every endpoint; if off, they '
    'name only the worst'),
  ('metrics.top_endpoints', '10', 'integer', 0, 1000,
    'How many endpoints the metrics name: those with the most open deliveries, and those with the '
    'most failures in a row'),
  ('event.delivered_days', '7', 'integer', 7, 364,
    'How many full days an event without open deliveries is stored, with its attempts; until then '
    'it can be replayed'),
  ('event.retention_days', '30', 'integer', 1, 365,
    'A delivery that is still open after this many days expires; deliver_at can be at most this '
    'far ahead');

insert into outbox.setting (name, value, type, form, form_problem, is_url, description) values
  ('egress.proxy_url', '""', 'text', '^(http://[^/]*)?$',
    'must be empty or a URL such as http://proxy.example.com:3128, without credentials and path',
    true,
    'An http proxy for every webhook (CONNECT), which must check the addresses itself; empty: no '
    'proxy');

create function outbox.find_setting(p_name text) returns outbox.setting
language plpgsql stable set search_path = ''
as $$
declare
  v_setting outbox.setting;
begin
  select * into v_setting from outbox.setting s where s.name = p_name;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('setting %s does not exist', pg_catalog.quote_nullable(p_name)),
      hint = 'select name, description from outbox.setting lists them';
  end if;
  return v_setting;
end
$$;
comment on function outbox.find_setting(text) is 'A setting. OH002 if it does not exist.';

create function outbox.setting_value(p_name text) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (select s.value from outbox.setting s where s.name = p_name);
end
$$;
comment on function outbox.setting_value(text) is
  'A setting''s value as jsonb; null for an unknown name.';

create function outbox.setting_int(p_name text) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return (select (s.value #>> '{}')::integer from outbox.setting s where s.name = p_name);
end
$$;
comment on function outbox.setting_int(text) is 'The value of an integer setting.';

create function outbox.setting_on(p_name text) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return (select (s.value #>> '{}')::boolean from outbox.setting s where s.name = p_name);
end
$$;
comment on function outbox.setting_on(text) is 'The value of a boolean setting.';

create function outbox.key_window() returns interval
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.make_interval(hours => outbox.setting_int('idempotency.window_hours'));
end
$$;
comment on function outbox.key_window() is
  'How long an idempotency key is stored: the setting idempotency.window_hours.';
