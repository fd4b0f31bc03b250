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
  description text not null,
  updated_at timestamptz not null default pg_catalog.now(),
  constraint setting_form_says_why check ((form is null) = (form_problem is null)),
  constraint setting_url_has_a_form check (form is not null or not is_url)
);
comment on table outbox.setting is
  'All settings with their types, bounds and meanings; set_setting() changes one. form: the '
  'regular expression for a text; form_problem: the error for an invalid text; is_url: the text '
  'is empty, or a URL to which a path can be appended.';

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('worker.enabled', 'true', 'boolean', null, null,
    'Off: no kick and no claim; publishing continues'),
  ('worker.poll_interval_ms', '1000', 'integer', 25, 60000,
    'How often the tick checks for work; an idle worker polls four times as often, and a run '
    'that was just busy every 25 ms'),
  ('worker.batch_size', '400', 'integer', 1, 1000, 'The most deliveries that one dispatch claims'),
  ('worker.max_runs', '4', 'integer', 1, 100, 'The most active edge runs; one more ends at once'),
  ('worker.max_wall_ms', '25000', 'integer', 1000, 300000,
    'How long an edge run claims; the platform ends an isolate after 150 s'),
  ('worker.max_deliveries', '2000', 'integer', 1, 1000000,
    'How many deliveries an edge run sends before it ends; the platform allows 2 s of CPU'),
  ('kick.on_commit', 'true', 'boolean', null, null,
    'Starts a run at commit if no run is active; off: only the tick starts runs'),
  ('kick.quiet_ms', '500', 'integer', 50, 60000,
    'No kick on commit within this time after a poll of a run or the last kick'),
  ('publish.max_body_bytes', '262144', 'integer', 1024, 1048576, 'The largest payload'),
  ('route.batch_size', '1000', 'integer', 1, 2000, 'The most events that one dispatch routes'),
  ('egress.allow_http', 'false', 'boolean', null, null, 'Allows http URLs: for local development'),
  ('egress.allow_cidrs', '[]', 'text[]', null, null,
    'Private networks that deliveries may reach, in CIDR form'),
  ('egress.allow_ports', '["80", "443", "1024-65535"]', 'text[]', null, null,
    'The ports that webhooks may use, single or as ranges'),
  ('egress.deny_ports',
    '["1433", "1521", "2049", "2375-2380", "3306", "3389", "5432", "6379", "6443", '
    '"9200", "10250", "11211", "27017"]', 'text[]', null, null,
    'Exceptions to egress.allow_ports: ports of databases and remote control'),
  ('response.success_bytes', '256', 'integer', 0, 16384, 'How much of a 2xx response is stored'),
  ('response.failure_bytes', '4096', 'integer', 0, 16384,
    'How much of any other response is stored'),
  ('endpoint.timeout_ms', '15000', 'integer', 500, 60000,
    'Default for new endpoints: the timeout of a whole request; existing endpoints do not change'),
  ('endpoint.max_in_flight', '50', 'integer', 1, 1000,
    'Default for new endpoints: how many requests may be in flight; existing endpoints do not '
    'change'),
  ('endpoint.quantum', '25', 'integer', 1, 1000,
    'Default for new endpoints: how many deliveries in a row are claimed before the turn of the '
    'next endpoint; existing endpoints do not change'),
  ('endpoint.rate_burst', '10', 'integer', 1, 100000,
    'Default for new endpoints: how many requests an endpoint with a rate may get at once; '
    'existing endpoints do not change'),
  ('breaker.enabled', 'true', 'boolean', null, null,
    'Default for new endpoints: whether the endpoint has a breaker; existing endpoints do not '
    'change'),
  ('breaker.threshold', '5', 'integer', 1, 1000,
    'Default for new endpoints: how many failures in a row open the breaker; existing endpoints '
    'do not change'),
  ('breaker.open_ms', '30000', 'integer', 1000, 3600000,
    'Default for new endpoints: how long the breaker stays open before a probe; existing '
    'endpoints do not change'),
  ('retry_after.max_s', '3600', 'integer', 1, 86400,
    'The longest wait that a receiver can request by Retry-After'),
  ('idempotency.window_hours', '24', 'integer', 1, 168,
    'How long the idempotency key of an event, a saga or an API request is stored; at most '
    'event.retention_days'),
  ('endpoint.disable_after_days', '5', 'integer', 1, 365,
    'An endpoint that has failed for this many days without one success is disabled'),
  ('dead_letter.retention_days', '90', 'integer', 1, 3650,
    'How long a replayed or discarded dead letter is stored; any other is stored for ever'),
  ('attempt.retention_days', '8', 'integer', 8, 365, 'How long attempts are stored'),
  ('metrics.per_endpoint', 'false', 'boolean', null, null,
    'Counts attempts for each endpoint and shows every endpoint in the metrics, not only the '
    'worst'),
  ('metrics.top_endpoints', '10', 'integer', 0, 1000,
    'How many endpoints the metrics name: those with the most open deliveries, and those with '
    'the most failures in a row'),
  ('event.delivered_days', '7', 'integer', 7, 364,
    'For how many full days an event without open deliveries is stored, with its attempts; it '
    'can be replayed until then'),
  ('event.retention_days', '30', 'integer', 1, 365,
    'A delivery that is still open after this many days expires; the limit of deliver_at');

insert into outbox.setting (name, value, type, form, form_problem, is_url, description) values
  ('egress.proxy_url', '""', 'text', '^(http://[^/]*)?$',
    'must be empty or a URL such as http://proxy.example.com:3128, without credentials and path',
    true,
    'A proxy that opens every connection (CONNECT) and checks the host names; empty: none');

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
