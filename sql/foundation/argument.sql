-- Checks for the arguments of many functions. Each raises OH001 with the argument, what is wrong
-- with it, and the remedy. Checks that only one file needs are in that file.

-- volatile: the planner, also that of `supabase db lint`, would execute an immutable call with
-- constants.
create function outbox.invalid(p_field text, p_problem text, p_remedy text) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_field text := coalesce(
    pg_catalog.substring(
      ',' || pg_catalog.current_setting('outbox.field_names', true),
      ',' || p_field || '=([a-z_]+)'),
    p_field);
begin
  raise exception using errcode = 'OH001', message = pg_catalog.format('%s %s', v_field, p_problem),
    detail = v_field, hint = p_remedy;
end
$$;
comment on function outbox.invalid(text, text, text) is
  'Raises OH001 for one argument: message "<field> <problem>", detail: the field, hint: the '
  'remedy. The setting outbox.field_names has other names of fields: "type=event_type,...".';

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
  'Raises OH001 unless a number is within its bounds.';

create function outbox.check_org(p_org_id text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_org_id is null or p_org_id !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' then
    perform outbox.invalid('org_id',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_org_id, 80))),
      'Expected 1 to 64 letters, digits, _ . : -, such as org-123');
  end if;
end
$$;
comment on function outbox.check_org(text) is
  'Raises OH001 unless this is a valid id of an organisation.';

create function outbox.check_user_org(p_org_id text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  perform outbox.check_org(p_org_id);
  if p_org_id = 'outhook' then
    perform outbox.invalid('org_id', 'is outhook, which is the system''s own',
      'Choose another id: this organisation has only operational events and their endpoints');
  end if;
end
$$;
comment on function outbox.check_user_org(text) is
  'Raises OH001 unless this is a valid id of an organisation of users: not outhook, which has '
  'nothing but operational events and the endpoints that receive them.';
