-- The order of the rows of a backfill. It is that of the primary key, and the position is the key
-- of the last row. A key is stored as the JSON array of the texts of its columns. It is compared as
-- literals of the types of the columns, so only types of Postgres, domains over them and enums are
-- possible: an operator of any other type could be code of another role, which would run with the
-- rights of the schema's owner.

create function outbox.key_columns(p_table regclass) returns text[]
language plpgsql volatile set search_path = ''
as $$
declare
  v_columns text[];
  v_other text;
begin
  select pg_catalog.array_agg(a.attname::text order by k.place),
    pg_catalog.min(a.attname::text) filter (where t.typtype <> 'e'
      and (t.oid >= 16384 or t.oid in ('money'::regtype, 'money[]'::regtype)))
  into v_columns, v_other
  from pg_catalog.pg_index i
  cross join lateral pg_catalog.unnest(i.indkey::smallint[]) with ordinality k (attnum, place)
  join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
  join pg_catalog.pg_type t on t.oid = outbox.base_type(a.atttypid)
  where i.indrelid = p_table and i.indisprimary and k.place <= i.indnkeyatts;
  if v_columns is null then
    perform outbox.invalid('table', pg_catalog.format('%s has no primary key', p_table),
      'A backfill continues behind the last key: add a primary key');
  elsif v_other is not null then
    perform outbox.invalid('table',
      pg_catalog.format('%s has a primary key with the column %I, which has no type of Postgres',
        p_table, v_other),
      'A backfill compares keys of types of Postgres, of domains over them and of enums only');
  end if;
  return v_columns;
end
$$;
comment on function outbox.key_columns(regclass) is
  'The columns of the primary key of a table. OH001 if it has none, or one that the job cannot '
  'compare.';

create function outbox.key_parts(p_table regclass) returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.array_agg(
      pg_catalog.format('%s %s %s %s', a.attnum, a.atttypid, a.attcollation,
        i.indoption[k.place - 1]) order by k.place)
    from pg_catalog.pg_index i
    cross join lateral pg_catalog.unnest(i.indkey::smallint[]) with ordinality k (attnum, place)
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = p_table and i.indisprimary and k.place <= i.indnkeyatts);
end
$$;
comment on function outbox.key_parts(regclass) is
  'What the order of the primary key depends on: the numbers, types and collations of its columns. '
  'A column that is renamed changes none of it.';

create function outbox.key_text(p_columns text[]) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.format('pg_catalog.jsonb_build_array(%s)::text',
      pg_catalog.string_agg(pg_catalog.format('pg_catalog.format(''%%s'', n.%I)', c), ', '
        order by place))
    from pg_catalog.unnest(p_columns) with ordinality k (c, place));
end
$$;
comment on function outbox.key_text(text[]) is 'The SQL expression of the key of a row n.';

create function outbox.key_bound(p_columns text[], p_operator text, p_key text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  if p_key is null then
    -- Without a position, the first row is next. Without an end, there was no row.
    return case when p_operator = '>' then 'true' else 'false' end;
  end if;
  return (
    select pg_catalog.format('(%s) %s (%s)',
      pg_catalog.string_agg(pg_catalog.format('n.%I', k.c), ', ' order by k.place), p_operator,
      pg_catalog.string_agg(pg_catalog.format('%L', p_key::jsonb ->> (k.place - 1)::integer), ', '
        order by k.place))
    from pg_catalog.unnest(p_columns) with ordinality k (c, place));
end
$$;
comment on function outbox.key_bound(text[], text, text) is
  'The SQL condition that compares the key of a row n with this one. Without one, every row is '
  'behind it (>), and none is before it (<=).';

create function outbox.key_order(p_columns text[], p_direction text default '') returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.string_agg(pg_catalog.format('n.%I', c) || p_direction, ', ' order by place)
    from pg_catalog.unnest(p_columns) with ordinality k (c, place));
end
$$;
comment on function outbox.key_order(text[], text) is
  'The SQL order of the rows n by their keys. p_direction: empty, or '' desc'' for the last row '
  'first.';
