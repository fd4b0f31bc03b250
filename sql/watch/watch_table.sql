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
end
$$;
comment on function outbox.check_columns(regclass, text, text[]) is
  'Raises OH001 unless the table has these columns.';

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

create function outbox.primary_key(p_table regclass) returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select a.attname::text
    from pg_catalog.pg_index i
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = p_table and i.indisprimary
    order by a.attnum);
end
$$;
comment on function outbox.primary_key(regclass) is 'The columns of a table''s primary key.';

create function outbox.watch_table(
  p_table regclass,
  p_type text default null,
  p_org_id text default 'default',
  p_org_column text default null,
  p_partition_column text default null,
  p_columns text[] default null,
  p_except text[] default null,
  p_changed text[] default null,
  p_operations text[] default '{insert,update,delete}',
  p_per_statement boolean default false
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_name text := (select c.relname from pg_catalog.pg_class c where c.oid = p_table);
  v_type text := coalesce(p_type, pg_catalog.lower(v_name) || '.{op}');
  v_key text[] := outbox.primary_key(p_table);
  v_watch jsonb;
  v_op text;
begin
  perform outbox.check_watched(p_table);
  perform outbox.check_type(pg_catalog.replace(v_type, '{op}', 'inserted'));
  perform outbox.check_org(p_org_id);
  perform outbox.check_columns(p_table, 'org_column', array[p_org_column])
  where p_org_column is not null;
  perform outbox.check_columns(p_table, 'partition_column', array[p_partition_column])
  where p_partition_column is not null;
  perform outbox.check_columns(p_table, 'columns', p_columns);
  perform outbox.check_columns(p_table, 'except', p_except);
  perform outbox.check_columns(p_table, 'changed', p_changed);
  if p_columns is not null and p_except is not null then
    perform outbox.invalid('except', 'cannot be combined with columns',
      'Give columns or except, not both');
  end if;
  if not coalesce(p_operations <@ '{insert,update,delete}' and p_operations <> '{}', false) then
    perform outbox.invalid('operations',
      pg_catalog.format('is %s', coalesce(p_operations::text, 'null')),
      'Expected a list of insert, update and delete');
  end if;
  if p_per_statement and v_key = '{}' and 'update' = any (p_operations) then
    perform outbox.invalid('per_statement', 'needs a table with a primary key',
      'It matches the rows before and after an update. Add one, or leave per_statement out');
  end if;
  v_watch := pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'type', v_type, 'org_id', case when p_org_column is null then p_org_id end,
    'org_column', p_org_column, 'partition_column', p_partition_column,
    'columns', pg_catalog.to_jsonb(p_columns), 'except', pg_catalog.to_jsonb(p_except),
    'changed', pg_catalog.to_jsonb(p_changed), 'key', pg_catalog.to_jsonb(v_key)));
  perform outbox.unwatch_table(p_table);
  if p_per_statement then
    foreach v_op in array p_operations loop
      execute pg_catalog.format(
        'create trigger %I after %s on %s referencing %s for each statement '
        'execute function outbox.publish_rows(%L)',
        'outhook_' || v_op, v_op, p_table,
        case v_op
          when 'insert' then 'new table as new_rows'
          when 'delete' then 'old table as old_rows'
          else 'new table as new_rows old table as old_rows'
        end, v_watch);
    end loop;
  else
    execute pg_catalog.format(
      'create trigger outhook_row after %s on %s for each row '
      'execute function outbox.publish_row(%L)',
      pg_catalog.array_to_string(p_operations, ' or '), p_table, v_watch);
  end if;
  return v_watch || pg_catalog.jsonb_build_object('table', p_table::text,
    'operations', p_operations, 'per_statement', p_per_statement);
end
$$;
comment on function
  outbox.watch_table(
    regclass, text, text, text, text, text[], text[], text[], text[], boolean) is
  'Publishes every later change of the table''s rows in the transaction of the change, or '
  'replaces the settings of an earlier call. p_type may contain {op}: inserted, updated or '
  'deleted. p_org_column is the column with the organisation, p_partition_column the one with the '
  'partition key. p_columns or p_except choose the published columns. An update is published if a '
  'column of p_changed differs. p_per_statement is faster for bulk writes. Returns the settings. '
  'Call it as the owner of the table. TRUNCATE is not published. OH001.';

create function outbox.unwatch_table(p_table regclass) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_trigger name;
  v_dropped integer := 0;
begin
  perform outbox.check_watched(p_table);
  for v_trigger in
    select t.tgname from pg_catalog.pg_trigger t
    where t.tgrelid = p_table and t.tgparentid = 0
      and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
  loop
    execute pg_catalog.format('drop trigger %I on %s', v_trigger, p_table);
    v_dropped := v_dropped + 1;
  end loop;
  return pg_catalog.jsonb_build_object('table', p_table::text, 'watched', v_dropped > 0);
end
$$;
comment on function outbox.unwatch_table(regclass) is
  'Stops publishing the changes of a table: {"table", "watched": whether it was watched until '
  'now}. OH001.';
