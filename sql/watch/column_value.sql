-- The values of the columns as JSON. The triggers run with the rights of the schema's owner, so
-- they run no code of another role: no cast and no operator of a type that the application
-- defined. The types of Postgres have numbers below 16384.

create function outbox.base_type(p_type oid) returns oid
language plpgsql stable set search_path = ''
as $$
declare
  v_type oid := p_type;
  v_base oid;
begin
  loop
    select t.typbasetype into v_base from pg_catalog.pg_type t
    where t.oid = v_type and t.typtype = 'd';
    exit when not found;
    v_type := v_base;
  end loop;
  return v_type;
end
$$;
comment on function outbox.base_type(oid) is 'The type under a domain; any other type itself.';

create function outbox.text_of(p_value anyelement) returns text
language plpgsql stable set search_path = '' set lc_monetary = 'C'
as $$
begin
  -- Not a cast, because a role can define one.
  return pg_catalog.format('%s', p_value);
end
$$;
comment on function outbox.text_of(anyelement) is
  'The text of a value by the output function of its type, independent of lc_monetary.';

create function outbox.plain_type(p_type oid) returns text
language plpgsql stable set search_path = ''
as $$
begin
  -- Not format_type(), because a cast to "character" or "bit" cuts the value to length 1.
  return (
    select pg_catalog.format('pg_catalog.%I', t.typname) from pg_catalog.pg_type t
    where t.oid = p_type);
end
$$;
comment on function outbox.plain_type(oid) is 'The name of a type of Postgres, without a length.';

create function outbox.json_function(p_type oid) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.format('%I.%I', n.nspname, p.proname)
    from pg_catalog.pg_cast c
    join pg_catalog.pg_proc p on p.oid = c.castfunc
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'c'
    where c.castsource = p_type and c.casttarget = 'pg_catalog.json'::regtype and exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'));
end
$$;
comment on function outbox.json_function(oid) is
  'The C function of an extension that casts a type to json, such as that of PostGIS or hstore; '
  'null for any other type. Only a superuser creates a C function.';

create function outbox.field_value(p_column text, p_attribute name, p_type oid) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_field text := pg_catalog.format('(%s).%I', p_column, p_attribute);
begin
  -- Nobody locks the type, so it may get another attribute of this name before the query runs. Then
  -- the value is null, and no conversion runs.
  return pg_catalog.format(
    'case pg_catalog.pg_typeof(%1$s)::pg_catalog.oid when %2$s then pg_catalog.to_json(%3$s) end '
    'as %4$I',
    v_field, p_type, outbox.column_value(v_field, p_type), p_attribute);
end
$$;
comment on function outbox.field_value(text, name, oid) is
  'The SQL expression of one attribute of a composite value, with its name.';

create function outbox.column_value(p_column text, p_type oid) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_base oid := case when p_type < 16384 then p_type else outbox.base_type(p_type) end;
  v_unless_null text := pg_catalog.format('case pg_catalog.num_nulls(%s) when 0 then %%s end',
    pg_catalog.replace(p_column, '%', '%%'));
  v_type record;
  v_element oid;
  v_text text;
begin
  if p_type not in ('money'::regtype, 'money[]'::regtype) then
    if p_type < 16384 then
      return p_column;
    elsif v_base < 16384 then
      return outbox.column_value(pg_catalog.format('(%s::%s)', p_column, outbox.plain_type(v_base)),
        v_base);
    end if;
  end if;
  select t.typtype, t.typrelid, e.oid as element, e.typtype as element_typtype, e.typdelim,
    outbox.json_function(t.oid) as json_function
  into v_type
  from pg_catalog.pg_type t
  left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
  where t.oid = v_base;
  if v_type.json_function is not null then
    return pg_catalog.format('%s(%s)', v_type.json_function, p_column);
  elsif v_type.typrelid <> 0 then
    return pg_catalog.format(v_unless_null, (
      select pg_catalog.format('(select pg_catalog.row_to_json(r.*) from (select %s) r)',
        pg_catalog.string_agg(outbox.field_value(p_column, a.attname, a.atttypid), ', '
          order by a.attnum))
      from pg_catalog.pg_attribute a
      where a.attrelid = v_type.typrelid and a.attnum > 0 and not a.attisdropped));
  end if;
  -- money, and composite values that may contain it, depend on lc_monetary.
  v_text := pg_catalog.format(v_unless_null, pg_catalog.format(
    case
      when p_type < 16384 or v_type.element_typtype in ('c', 'd') then 'outbox.text_of(%s)'
      else 'pg_catalog.format(''%%s'', %s)'
    end, p_column));
  v_element := outbox.base_type(v_type.element);
  if v_element < 16384 and v_element <> 'money'::regtype
    and outbox.plain_type(v_element) !~ '\._'
  then
    return pg_catalog.format('%s::%s[]', v_text, outbox.plain_type(v_element));
  elsif v_type.typdelim = ',' then
    return v_text || '::text[]';
  end if;
  return v_text;
end
$$;
comment on function outbox.column_value(text, oid) is
  'The SQL expression of a column as it is published. Values of the types of Postgres are as '
  'row_to_json() writes them. Of every other type, only the output function or a C function of an '
  'extension runs: a cast or operator that a role has defined would run with the rights of the '
  'schema''s owner.';
