-- Validation of settings, by triggers, so that an UPDATE in SQL has the same checks as
-- set_setting(). A value is checked alone before its row is written, and together with the others
-- after the statement, so that one UPDATE can change two settings that depend on each other.

create function outbox.is_network(p_text text) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  -- The cast alone accepts 10/8 and a bare address, which the sender does not support, and
  -- 010.0.0.0/8, which the sender reads as octal.
  return p_text ~ ('^((0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)'
      '/(0|[1-9][0-9]*)$')
    and p_text::cidr is not null;
exception when invalid_text_representation then
  return false;
end
$$;
comment on function outbox.is_network(text) is
  'Whether a text is a network in CIDR form with zero host bits.';

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
    -- URL parsers remove path segments of dots.
    and coalesce(v_parts[3], '') ~ '^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$';
end
$$;
comment on function outbox.is_base_url(text, text) is
  'Whether a text is an http or https URL of that form to which a path can be appended: a name or '
  'IPv4 address, a valid port, no credentials, no query.';

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
        return pg_catalog.format('must be between %s and %s', p_setting.lowest, p_setting.highest);
      end if;
    when 'text' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'string' then
        return 'must be a string';
      end if;
      if p_value #>> '{}' !~ p_setting.form
        or (p_setting.is_url and p_value <> '""'
          and not outbox.is_base_url(p_value #>> '{}', p_setting.form))
      then
        return p_setting.form_problem;
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
  'What is wrong with a value for a setting, as the end of a sentence; null if it is valid.';

create table outbox.setting_rule (
  less text not null,
  per_less integer not null default 1,
  more text not null,
  per_more integer not null default 1,
  spare integer not null default 0,
  problem text not null,
  primary key (less, more)
);
comment on table outbox.setting_rule is
  'Which integer settings depend on each other: less * per_less <= more * per_more + spare. '
  'problem: the error for a change that would break the rule, as the end of a sentence. A module '
  'inserts the rules of its settings.';

insert into outbox.setting_rule (less, more, per_more, spare, problem) values
  ('worker.batch_size', 'worker.max_deliveries', 1, 0,
    'would let a run send fewer deliveries (worker.max_deliveries) than it claims at once '
    '(worker.batch_size)'),
  ('attempt.retention_days', 'event.retention_days', 1, 8,
    'would keep attempts (attempt.retention_days) longer than any event they belong to '
    '(event.retention_days + 8)'),
  ('event.delivered_days', 'attempt.retention_days', 1, -1,
    'would keep delivered events (event.delivered_days) longer than their attempts '
    '(attempt.retention_days)'),
  ('idempotency.window_hours', 'event.retention_days', 24, 0,
    'would keep an idempotency key (idempotency.window_hours) longer than its event '
    '(event.retention_days)');

create function outbox.setting_conflict(p_name text, out problem text, out remedy text)
returns record
language plpgsql stable set search_path = ''
as $$
declare
  v_all jsonb := (select pg_catalog.jsonb_object_agg(s.name, s.value) from outbox.setting s);
begin
  select r.problem, case p_name
    when r.less then pg_catalog.format('It may be %s at most while %s is %s: raise that first',
      v.more / r.per_less, r.more, v_all -> r.more)
    else pg_catalog.format('It must be %s at least while %s is %s: lower that first',
      pg_catalog.ceil((v.less - r.spare)::numeric / r.per_more), r.less, v_all -> r.less)
  end
  into problem, remedy
  from outbox.setting_rule r
  cross join lateral (
    select (v_all ->> r.less)::bigint * r.per_less as less,
      (v_all ->> r.more)::bigint * r.per_more + r.spare as more
  ) v
  where p_name in (r.less, r.more) and v.less > v.more
  order by r.less, r.more limit 1;
  if found then
    return;
  end if;
  if p_name in ('egress.allow_ports', 'egress.deny_ports')
    and outbox.port_ranges(v_all -> 'egress.allow_ports')
      <@ outbox.port_ranges(v_all -> 'egress.deny_ports')
  then
    problem :=
      'would let no webhook out: no port in egress.allow_ports is outside egress.deny_ports';
    remedy := case p_name
      when 'egress.allow_ports' then 'Allow a port that is not denied, such as 443'
      else 'Leave a port that is allowed, such as 443'
    end;
  end if;
end
$$;
comment on function outbox.setting_conflict(text) is
  'Why the stored value of a setting conflicts with another setting, as the end of a sentence, and '
  'the remedy; null if it does not.';

create function outbox.lock_settings() returns trigger
language plpgsql set search_path = ''
as $$
begin
  -- Two concurrent changes, each valid with the old value of the other, could conflict. Readers of
  -- settings do not wait for this lock.
  perform pg_catalog.pg_advisory_xact_lock('outbox.setting'::regclass::oid::bigint);
  return null;
end
$$;
comment on function outbox.lock_settings() is
  'Trigger: allows only one transaction at a time to change settings.';

create function outbox.refuse_setting(
  p_name text, p_problem text, p_remedy text, p_now jsonb
) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH005',
    message = pg_catalog.format('setting %s %s', p_name, p_problem),
    detail = p_name,
    hint = p_remedy || coalesce('. It is ' || p_now::text || ' now', '');
end
$$;
comment on function outbox.refuse_setting(text, text, text, jsonb) is
  'Raises OH005 for a setting: message "setting <name> <problem>", detail: the name, hint: the '
  'remedy and the value as it is now, null for a new setting.';

create function outbox.check_setting() returns trigger
language plpgsql set search_path = ''
as $$
declare
  v_now jsonb := case when tg_op = 'UPDATE' then old.value end;
  v_problem text;
  v_remedy text := new.description;
begin
  if tg_when = 'BEFORE' then
    v_problem := outbox.setting_problem(new, new.value);
    new.updated_at := pg_catalog.now();
  else
    select * into v_problem, v_remedy from outbox.setting_conflict(new.name);
  end if;
  if v_problem is not null then
    perform outbox.refuse_setting(new.name, v_problem, v_remedy, v_now);
  end if;
  return new;
end
$$;
comment on function outbox.check_setting() is
  'Trigger: raises OH005 for an invalid value: message "setting <name> <problem>", '
  'detail: the name, hint: the remedy.';

create trigger setting_is_changed_by_one
  before insert or update on outbox.setting
  for each statement execute function outbox.lock_settings();
create trigger setting_has_a_value
  before insert or update on outbox.setting
  for each row execute function outbox.check_setting();
create trigger setting_goes_with_others
  after insert or update on outbox.setting
  for each row execute function outbox.check_setting();

create function outbox.set_setting(p_name text, p_value jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_was jsonb := (outbox.find_setting(p_name)).value;
begin
  update outbox.setting s set value = p_value where s.name = p_name;
  perform outbox.note_setting(null, p_name, p_value, v_was);
  return pg_catalog.jsonb_build_object('name', p_name, 'value', p_value, 'was', v_was);
end
$$;
comment on function outbox.set_setting(text, jsonb) is
  'Changes one setting and returns {"name", "value", "was"}. OH002: no such setting; OH005: the '
  'value is refused, with the reason.';
