-- Settings: one row each, with its type, its bounds and what it is for. No setting is a constraint
-- in a table, so that changing one takes one UPDATE and no lock that a run waits on.

create table outbox.setting (
  name text primary key,
  value jsonb not null,
  type text not null constraint setting_type_is_known check (
    type in ('boolean', 'integer', 'text', 'text[]')
  ),
  lowest bigint,
  highest bigint,
  description text not null,
  updated_at timestamptz not null default pg_catalog.now()
);
comment on table outbox.setting is
  'Every setting with its type, bounds and meaning; set_setting() changes one.';

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('worker.enabled', 'true', 'boolean', null, null,
    'Off: no kick and no claim; publishing goes on'),
  ('worker.poll_interval_ms', '1000', 'integer', 25, 60000,
    'How often the tick looks for work; an idle worker looks four times as often, and a run that '
    'was just busy every 25 ms'),
  ('worker.batch_size', '400', 'integer', 1, 1000, 'The most deliveries that one dispatch claims'),
  ('worker.max_runs', '4', 'integer', 1, 100,
    'The most edge runs at a time; one more ends at once'),
  ('worker.max_wall_ms', '25000', 'integer', 1000, 300000,
    'How long an edge run claims; the platform ends an isolate after 150 s'),
  ('worker.max_deliveries', '2000', 'integer', 1, 1000000,
    'How many deliveries an edge run sends before it ends; the platform allows 2 s of CPU'),
  ('kick.on_commit', 'true', 'boolean', null, null,
    'Wake a run at commit when none is awake; off: the tick alone does it'),
  ('kick.quiet_ms', '500', 'integer', 50, 60000,
    'No kick on commit within this time of a run''s poll or of the last kick'),
  ('publish.max_body_bytes', '262144', 'integer', 1024, 1048576, 'The largest payload'),
  ('route.batch_size', '1000', 'integer', 1, 2000, 'The most events that one dispatch routes'),
  ('egress.allow_http', 'false', 'boolean', null, null, 'Allow http URLs: for local development'),
  ('egress.allow_cidrs', '[]', 'text[]', null, null,
    'Private networks that deliveries may reach, in CIDR form'),
  ('egress.allow_ports', '["80", "443", "1024-65535"]', 'text[]', null, null,
    'Ports that webhooks may go to, single or as ranges'),
  ('egress.deny_ports',
    '["1433", "1521", "2049", "2375-2380", "3306", "3389", "5432", "6379", "6443", '
    '"9200", "10250", "11211", "27017"]', 'text[]', null, null,
    'Ports of those that they may not go to all the same: databases, remote control'),
  ('egress.proxy_url', '""', 'text', null, null,
    'A proxy that makes every connection (CONNECT) and vets the names; empty: none'),
  ('response.success_bytes', '256', 'integer', 0, 16384, 'How much is kept of a 2xx response'),
  ('response.failure_bytes', '4096', 'integer', 0, 16384, 'How much is kept of any other response'),
  ('endpoint.disable_after_days', '5', 'integer', 1, 365,
    'An endpoint that has failed for so many days without one success is disabled'),
  ('dead_letter.retention_days', '90', 'integer', 1, 3650,
    'How long a replayed or discarded dead letter is kept; any other is kept for ever'),
  ('attempt.retention_days', '8', 'integer', 8, 365, 'How long receipts are kept'),
  ('api.requests_per_second', '100', 'integer', 1, 100000,
    'How many requests a second the API takes for each org; what is over it is answered 429'),
  ('api.burst', '200', 'integer', 1, 100000,
    'How many more the API takes at once of an org that was silent'),
  ('metrics.per_endpoint', 'false', 'boolean', null, null,
    'Count attempts for each endpoint and show every endpoint in the metrics, not the worst alone'),
  ('metrics.top_endpoints', '10', 'integer', 0, 1000,
    'How many endpoints the metrics name: those with most open, and those that fail longest'),
  ('inbox.retention_days', '40', 'integer', 1, 3650,
    'How long a consumer knows what it has processed: longer than event.retention_days, or a late '
    'try is processed twice'),
  ('whatsapp.graph_url', '"https://graph.facebook.com"', 'text', null, null,
    'Where the WhatsApp Cloud API is'),
  ('whatsapp.graph_version', '"v25.0"', 'text', null, null,
    'The version of the Graph API that messages are sent through'),
  ('callback.retention_days', '30', 'integer', 8, 365,
    'How long WhatsApp''s updates are kept as they came, by which a repeat is known; Meta repeats '
    'one for 7 days'),
  ('message.retention_days', '365', 'integer', 1, 3650,
    'How long payload, number and ids of a finished message are kept; its audit trail stays'),
  ('event.retention_days', '30', 'integer', 1, 365,
    'A delivery still open after this many days expires; deliver_at reaches no further');

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

create function outbox.is_network(p_text text) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  -- The cast alone would take 10/8 and a bare address too, which the sender does not read, and
  -- 010.0.0.0/8, which the sender reads as octal.
  return p_text ~ ('^((0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)'
      '/(0|[1-9][0-9]*)$')
    and p_text::cidr is not null;
exception when invalid_text_representation then
  return false;
end
$$;
comment on function outbox.is_network(text) is
  'Whether a text is a network in CIDR form, its host bits zero.';

create function outbox.is_base_url(p_text text, p_form text) returns boolean
language plpgsql immutable set search_path = ''
as $$
declare
  v_label constant text := '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
  v_parts text[] := pg_catalog.regexp_match(p_text, '^https?://([^/:]+)(?::([0-9]{1,5}))?(/.*)?$');
begin
  return v_parts is not null and p_text ~ p_form
    and v_parts[1] ~ ('^' || v_label || '(\.' || v_label || ')*$')
    and coalesce(v_parts[2]::integer, 80) between 1 and 65535
    -- A path of dots would be resolved away.
    and coalesce(v_parts[3], '') ~ '^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$';
end
$$;
comment on function outbox.is_base_url(text, text) is
  'Whether a text is an http or https URL of that form that a path can be put behind: a name or '
  'IPv4 address, a port that there is, no credentials, no query.';

-- What is wrong with a value for a setting, as a sentence; null when nothing is.
create function outbox.setting_problem(p_setting outbox.setting, p_value jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_item text;
begin
  case p_setting.type
    when 'boolean' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'boolean' then
        return 'must be true or false';
      end if;
    when 'integer' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'number'
        or (p_value #>> '{}') !~ '^-?[0-9]{1,18}$' then
        return 'must be a whole number';
      end if;
      if (p_value #>> '{}')::bigint not between p_setting.lowest and p_setting.highest then
        return pg_catalog.format('must lie between %s and %s', p_setting.lowest, p_setting.highest);
      end if;
    when 'text' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'string' then
        return 'must be a string';
      end if;
      if p_setting.name = 'egress.proxy_url'
        and p_value <> '""'
        and not outbox.is_base_url(p_value #>> '{}', '^http://[^/]*$')
      then
        return
          'must be empty or a URL such as http://proxy.example.com:3128, without credentials and '
          'path';
      end if;
      if p_setting.name = 'whatsapp.graph_url'
        and not outbox.is_base_url(p_value #>> '{}', '^https?://')
      then
        return 'must be a URL such as https://graph.facebook.com, without credentials and query';
      end if;
      if p_setting.name = 'whatsapp.graph_version' and p_value #>> '{}' !~ '^v[0-9]{1,3}[.][0-9]$'
      then
        return 'must be a version such as v25.0';
      end if;
    else
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'array'
        or exists (
          select from pg_catalog.jsonb_array_elements(p_value) v
          where pg_catalog.jsonb_typeof(v.value) <> 'string'
        )
      then
        return 'must be an array of strings';
      end if;
      if p_setting.name = 'egress.allow_cidrs' then
        for v_item in select v.value from pg_catalog.jsonb_array_elements_text(p_value) v loop
          if not outbox.is_network(v_item) then
            return pg_catalog.format(
              'holds %L, which is not a network such as 10.0.0.0/8 or fd00::/8',
              pg_catalog.left(v_item, 60));
          end if;
        end loop;
      elsif p_setting.name in ('egress.allow_ports', 'egress.deny_ports') then
        for v_item in select v.value from pg_catalog.jsonb_array_elements_text(p_value) v loop
          if not outbox.is_port_range(v_item) then
            return pg_catalog.format(
              'holds %L, which is not a port such as 443 or a range such as 1024-65535',
              pg_catalog.left(v_item, 60));
          end if;
        end loop;
      end if;
  end case;
  return null;
end
$$;
comment on function outbox.setting_problem(outbox.setting, jsonb) is
  'What is wrong with a value for a setting, as the end of a sentence; null when it may be stored.';

create function outbox.setting_conflict(p_name text, p_value jsonb) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_all jsonb := pg_catalog.jsonb_build_object(p_name, p_value);
begin
  select pg_catalog.jsonb_object_agg(s.name, s.value) || v_all into v_all from outbox.setting s;
  return case
    when (v_all -> 'worker.max_deliveries')::bigint < (v_all -> 'worker.batch_size')::bigint then
      'would let a run send fewer deliveries (worker.max_deliveries) than it claims at once '
      '(worker.batch_size)'
    when (v_all -> 'attempt.retention_days')::bigint
      > (v_all -> 'event.retention_days')::bigint + 8
    then
      'would keep receipts (attempt.retention_days) longer than any event they belong to '
      '(event.retention_days + 8)'
  end;
end
$$;
comment on function outbox.setting_conflict(text, jsonb) is
  'Why a value cannot stand beside the other settings, as the end of a sentence; null when it can.';

create function outbox.set_setting(p_name text, p_value jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_setting outbox.setting;
  v_problem text;
begin
  select * into v_setting from outbox.setting s where s.name = p_name;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('setting %s does not exist', pg_catalog.quote_nullable(p_name)),
      hint = 'select name, description from outbox.setting lists them';
  end if;
  v_problem := coalesce(outbox.setting_problem(v_setting, p_value),
    outbox.setting_conflict(p_name, p_value));
  if v_problem is not null then
    raise exception using errcode = 'OH005',
      message = pg_catalog.format('setting %s %s', p_name, v_problem),
      hint = pg_catalog.format('%s. It is %s now', v_setting.description, v_setting.value);
  end if;
  update outbox.setting s set value = p_value, updated_at = pg_catalog.now() where s.name = p_name;
  return pg_catalog.jsonb_build_object('name', p_name, 'value', p_value, 'was', v_setting.value);
end
$$;
comment on function outbox.set_setting(text, jsonb) is
  'Changes one setting and returns {"name", "value", "was"}. OH002: no such setting; OH005: the '
  'value is refused, with the reason.';
