-- Templates: texts that Meta has approved. Each has a code that the organisation chooses. A message
-- contains only the code, so a new name or language at Meta is changed in one place.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.templates', '1000', 'integer', 1, 100000, true,
    'How many templates an organisation may have; their list has no pages');

create table outbox.template (
  org_id text not null,
  code text not null,
  name text not null,
  language text not null,
  category text not null constraint template_category_is_known check (
    category in ('MARKETING', 'UTILITY', 'AUTHENTICATION')
  ),
  parameter_format text not null default 'POSITIONAL'
    constraint template_parameter_format_is_known check (
      parameter_format in ('POSITIONAL', 'NAMED')
    ),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, code)
);
comment on table outbox.template is
  'The templates of an organisation by its own codes: Meta''s name and language, the category, '
  'and whether parameters are numbered (POSITIONAL) or named (NAMED).';

create function outbox.check_template_limit(p_org_id text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  perform outbox.take_limit_turn(p_org_id, 'limit.templates');
  perform outbox.check_limit(p_org_id, 'limit.templates',
    (select pg_catalog.count(*) + 1 from outbox.template t where t.org_id = p_org_id),
    'organisation ' || p_org_id, 'templates', 'Delete templates that are no longer used');
end
$$;
comment on function outbox.check_template_limit(text) is
  'Raises OH010 if an organisation may have no further template. locks: the turn of '
  'limit.templates.';

create function outbox.put_template(
  p_org_id text, p_code text, p_name text, p_language text, p_category text,
  p_parameter_format text default 'POSITIONAL', p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_user_org(p_org_id);
  if p_code is null or p_code !~ '^[A-Za-z0-9_.-]{1,128}$' then
    perform outbox.invalid('code', 'is not 1 to 128 letters, digits, _ . -',
      'Expected a code of your own, such as appointment_reminder_fr');
  end if;
  if p_name is null or p_name !~ '^[a-z0-9_]+$' or pg_catalog.length(p_name) > 512 then
    perform outbox.invalid('name', 'is not a template name of Meta',
      'Expected lower-case letters, digits and _, such as appointment_reminder');
  end if;
  if p_language is null or p_language !~ '^[a-z]{2,3}(_[A-Z]{2,3}|_[A-Z][a-z]{3})?$' then
    perform outbox.invalid('language', 'is not a language code of Meta',
      'Expected something like fr or en_US');
  end if;
  perform outbox.check_choice('category', p_category,
    array['MARKETING', 'UTILITY', 'AUTHENTICATION']);
  perform outbox.check_choice('parameterFormat', p_parameter_format,
    array['POSITIONAL', 'NAMED']);
  if not exists (
    select from outbox.template t where t.org_id = p_org_id and t.code = p_code)
  then
    perform outbox.check_template_limit(p_org_id);
  end if;
  insert into outbox.template as t (
    org_id, code, name, language, category, parameter_format, created_at, updated_at)
  values (p_org_id, p_code, p_name, p_language, p_category, p_parameter_format, v_now, v_now)
  on conflict (org_id, code) do update set
    name = excluded.name, language = excluded.language, category = excluded.category,
    parameter_format = excluded.parameter_format, updated_at = excluded.updated_at;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'UPDATED', 'Template saved', p_actor, v_now);
  return outbox.template_json(p_org_id, p_code);
end
$$;
comment on function outbox.put_template(text, text, text, text, text, text, text) is
  'Creates or changes a template; returns it as template_json(). p_code is the organisation''s '
  'own code, p_name and p_language are Meta''s. OH001; OH010: a new one above limit.templates.';

create function outbox.template_json(p_org_id text, p_code text) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_json jsonb;
begin
  select pg_catalog.jsonb_build_object('code', t.code, 'name', t.name, 'language', t.language,
    'category', t.category, 'parameterFormat', t.parameter_format,
    'createdAt', outbox.iso_time(t.created_at), 'updatedAt', outbox.iso_time(t.updated_at))
  into v_json
  from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  if v_json is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('template %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_code, 140))),
      hint = 'Create it with put_template(), or use a code from list_templates()';
  end if;
  return v_json;
end
$$;
comment on function outbox.template_json(text, text) is
  'A template as the API returns it. OH002.';

create function outbox.list_templates(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.template_json(t.org_id, t.code) order by t.code)
    from outbox.template t where t.org_id = p_org_id), '[]'));
end
$$;
comment on function outbox.list_templates(text) is
  'The templates of an organisation, ordered by code: {"data": […]}.';

create function outbox.delete_template(
  p_org_id text, p_code text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_deleted jsonb := outbox.template_json(p_org_id, p_code);
begin
  delete from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'DELETED', 'Template deleted', p_actor,
    outbox.clock());
  return v_deleted;
end
$$;
comment on function outbox.delete_template(text, text, text) is
  'Deletes a template and returns it. Its waiting messages fail at their next attempt. OH002.';
