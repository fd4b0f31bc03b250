-- Checks of the tables, the columns and the settings that watch_table() and backfill() get.

create function outbox.check_watched(p_table regclass) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_table is null or not exists (
    select from pg_catalog.pg_class c
    where c.oid = p_table and c.relkind in ('r', 'p')
      and c.relnamespace <> 'outbox'::regnamespace
      and c.relnamespace <> 'pg_catalog'::regnamespace)
  then
    perform outbox.invalid('table',
      pg_catalog.format('is %s', coalesce(p_table::text, 'null')),
      'Expected a table of the application; instead of a view, watch its tables');
  end if;
end
$$;
comment on function outbox.check_watched(regclass) is
  'Raises OH001 unless this table can be watched.';

create function outbox.check_columns(p_table regclass, p_field text, p_columns text[]) returns void
language plpgsql set search_path = ''
as $$
declare
  v_missing text;
begin
  select c into v_missing from pg_catalog.unnest(p_columns) c
  where not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attname = c and a.attnum > 0 and not a.attisdropped)
  limit 1;
  if found then
    perform outbox.invalid(p_field,
      pg_catalog.format('has %s, which is not a column of %s', pg_catalog.quote_nullable(v_missing),
        p_table),
      'Expected names of columns, as pg_attribute has them');
  end if;
  if p_columns = '{}' then
    perform outbox.invalid(p_field, 'is an empty list', 'Name columns, or leave it out');
  end if;
end
$$;
comment on function outbox.check_columns(regclass, text, text[]) is
  'Raises OH001 unless the table has these columns, at least one.';

create function outbox.check_tree(
  p_table regclass, p_operations text[], p_per_statement boolean
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_other regclass;
begin
  select t.tgrelid into v_other
  from pg_catalog.pg_trigger t
  where t.tgrelid <> p_table and t.tgparentid = 0
    and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
    and (t.tgrelid in (select r.relid from pg_catalog.pg_partition_tree(p_table) r)
      or t.tgrelid in (select r from pg_catalog.pg_partition_ancestors(p_table) r))
  limit 1;
  if found then
    perform outbox.invalid('table',
      pg_catalog.format('is a partition of the same table as %s, which is watched', v_other),
      pg_catalog.format('Call unwatch_table(%L) first', v_other));
  end if;
  if not p_per_statement and 'update' = any (p_operations)
    and not p_operations @> '{insert,delete}'
    and (select c.relkind = 'p' from pg_catalog.pg_class c where c.oid = p_table)
  then
    perform outbox.invalid('operations', 'has update without insert and delete',
      'A row that an update moves to another partition is deleted and inserted: name all three, '
      'or use per_statement');
  end if;
end
$$;
comment on function outbox.check_tree(regclass, text[], boolean) is
  'Raises OH001 if a partition of the table, or the partitioned table that it belongs to, is '
  'watched, or if moves between its partitions could not be told from deletions.';

create function outbox.watched_type(p_table regclass, p_type text) returns text
language plpgsql volatile set search_path = ''
as $$
declare
  v_type text := coalesce(p_type, pg_catalog.lower(
    (select c.relname from pg_catalog.pg_class c where c.oid = p_table)) || '.{op}');
begin
  perform outbox.check_type(pg_catalog.replace(v_type, '{op}', 'inserted'));
  return v_type;
end
$$;
comment on function outbox.watched_type(regclass, text) is
  'The type of the events of a table: p_type, or its name. OH001.';

create function outbox.column_lists(
  p_org_column text, p_partition_column text, p_columns text[], p_except text[],
  p_changed text[] default null
) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'org_column', case when p_org_column is not null then array[p_org_column] end,
    'partition_column', case when p_partition_column is not null then array[p_partition_column] end,
    'columns', p_columns, 'except', p_except, 'changed', p_changed));
end
$$;
comment on function outbox.column_lists(text, text, text[], text[], text[]) is
  'The lists of columns of watch_table() and backfill() that are given, each as an array.';

create function outbox.check_lists(p_table regclass, p_lists jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_list text;
  v_names text[];
begin
  for v_list, v_names in
    select e.key, array(select pg_catalog.jsonb_array_elements_text(e.value))
    from pg_catalog.jsonb_each(p_lists) e
  loop
    perform outbox.check_columns(p_table, v_list, v_names);
  end loop;
  if p_lists ?& '{columns,except}' then
    perform outbox.invalid('except', 'cannot be combined with columns',
      'Give columns or except, not both');
  end if;
end
$$;
comment on function outbox.check_lists(regclass, jsonb) is
  'Raises OH001 unless the table has the columns of these column_lists().';
