-- Settings of one organisation. Some settings may have another value for one organisation than for
-- all others, such as its limits (see foundation/org_limit).

create table outbox.org_setting (
  org_id text not null,
  name text not null,
  value jsonb not null,
  updated_at timestamptz not null,
  primary key (org_id, name)
);
comment on table outbox.org_setting is
  'Settings with another value for one organisation; set_org_setting() changes one. Without a row, '
  'the value in setting applies.';

create function outbox.org_setting_int(p_org_id text, p_name text) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    (
      select (o.value #>> '{}')::integer from outbox.org_setting o
      where o.org_id = p_org_id and o.name = p_name
    ), outbox.setting_int(p_name));
end
$$;
comment on function outbox.org_setting_int(text, text) is
  'The value of an integer setting for an organisation: its own, or that of all.';

create function outbox.set_org_setting(p_org_id text, p_name text, p_value jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_setting outbox.setting := outbox.find_setting(p_name);
  v_was jsonb;
  v_problem text := case
    when not v_setting.by_org then 'has one value for all organisations'
    when p_value is not null then outbox.setting_problem(v_setting, p_value)
  end;
begin
  perform outbox.check_org(p_org_id);
  if v_problem is not null then
    perform outbox.refuse_setting(p_name, v_problem,
      case
        when v_setting.by_org then v_setting.description
        else 'select name from outbox.setting where by_org lists the settings that may differ'
      end, v_setting.value);
  end if;
  delete from outbox.org_setting o where o.org_id = p_org_id and o.name = p_name
  returning o.value into v_was;
  if p_value is not null then
    insert into outbox.org_setting (org_id, name, value, updated_at)
    values (p_org_id, p_name, p_value, outbox.clock())
    on conflict (org_id, name) do update
      set value = excluded.value, updated_at = excluded.updated_at;
  end if;
  perform outbox.note_setting(p_org_id, p_name, p_value, v_was);
  return pg_catalog.jsonb_build_object('org_id', p_org_id, 'name', p_name, 'value', p_value,
    'was', v_was);
end
$$;
comment on function outbox.set_org_setting(text, text, jsonb) is
  'Gives one organisation its own value of a setting, from then on; null removes it, so that the '
  'value of all applies. Returns {"org_id", "name", "value", "was": its own value before, or '
  'null}. OH001; OH002: no such setting; OH005: the value is refused, or the setting has one value '
  'for all organisations.';
