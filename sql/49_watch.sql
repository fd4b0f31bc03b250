-- Watching tables: triggers that publish each change of a row in the transaction that makes it. The
-- payload is that of a Supabase Database Webhook, so that what receives those can receive these:
-- {"type": "INSERT", "table", "schema", "record", "old_record"}.
--
-- A trigger's one argument is JSON that watch_table() writes: {"type", "org_id", "org_column",
-- "partition_column", "columns", "except", "changed", "key"}. The trigger functions are SECURITY
-- DEFINER, so that writers such as authenticated publish by writing and by nothing else: what is
-- published the owner of the table has chosen.

create function outbox.watched_part(p_row jsonb, p_watch jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  if p_row is null then
    return null;
  elsif p_watch ? 'columns' then
    return (
      select pg_catalog.jsonb_object_agg(c, p_row -> c)
      from pg_catalog.jsonb_array_elements_text(p_watch -> 'columns') c);
  elsif p_watch ? 'except' then
    return p_row - array(select pg_catalog.jsonb_array_elements_text(p_watch -> 'except'));
  end if;
  return p_row;
end
$$;
comment on function outbox.watched_part(jsonb, jsonb) is
  'The columns of a row that the watch publishes; null for no row.';

create function outbox.is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return p_new is null or p_old is null or not p_watch ? 'changed' or exists (
    select from pg_catalog.jsonb_array_elements_text(p_watch -> 'changed') c
    where p_new -> c is distinct from p_old -> c);
end
$$;
comment on function outbox.is_watched_change(jsonb, jsonb, jsonb) is
  'Whether a change is published: an update is only when a column of "changed" has.';

create function outbox.publish_change(
  p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_row jsonb := coalesce(p_new, p_old);
  v_detail text;
  v_hint text;
begin
  perform outbox.put_event(outbox.new_event(
    outbox.clock(),
    pg_catalog.replace(p_watch ->> 'type', '{op}',
      case p_op when 'INSERT' then 'inserted' when 'UPDATE' then 'updated' else 'deleted' end),
    pg_catalog.json_build_object('type', p_op, 'table', p_table, 'schema', p_schema,
      'record', outbox.watched_part(p_new, p_watch),
      'old_record', outbox.watched_part(p_old, p_watch))::text,
    coalesce(v_row ->> (p_watch ->> 'org_column'), p_watch ->> 'org_id'),
    v_row ->> (p_watch ->> 'partition_column'), null, null, null, null, null));
exception when sqlstate 'OH001' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = 'OH001', detail = v_detail, hint = v_hint,
    message = pg_catalog.format('the change of %I.%I cannot be published: %s', p_schema, p_table,
      sqlerrm);
end
$$;
comment on function outbox.publish_change(jsonb, text, text, text, jsonb, jsonb) is
  'Publishes one change of a watched table. OH001 names the table and what is wrong with its '
  'event.';

create function outbox.publish_row() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_new jsonb := case when tg_op <> 'DELETE' then pg_catalog.to_jsonb(new) end;
  v_old jsonb := case when tg_op <> 'INSERT' then pg_catalog.to_jsonb(old) end;
begin
  if outbox.is_watched_change(v_new, v_old, v_watch) then
    perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, v_new, v_old);
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;
comment on function outbox.publish_row() is
  'Trigger of a watched table, after each row: publishes the change. watch_table() sets it up.';

create function outbox.publish_rows() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_new jsonb;
  v_old jsonb;
  v_any boolean := false;
begin
  if tg_op = 'INSERT' then
    for v_new in select pg_catalog.to_jsonb(n) from new_rows n loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, v_new, null);
      v_any := true;
    end loop;
  elsif tg_op = 'DELETE' then
    for v_old in select pg_catalog.to_jsonb(o) from old_rows o loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, null, v_old);
      v_any := true;
    end loop;
  else
    v_any := outbox.publish_updates(v_watch, tg_table_schema, tg_table_name,
      array(select pg_catalog.to_jsonb(n) from new_rows n),
      array(select pg_catalog.to_jsonb(o) from old_rows o));
  end if;
  if v_any then
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;
comment on function outbox.publish_rows() is
  'Trigger of a watched table, after each statement, with the transition tables new_rows and '
  'old_rows: publishes the change of each row. watch_table(p_per_statement => true) sets it up.';

create function outbox.publish_updates(
  p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_new jsonb;
  v_old jsonb;
  v_op text;
  v_key jsonb := pg_catalog.jsonb_build_object('columns', p_watch -> 'key');
  v_any boolean := false;
begin
  for v_new, v_old in
    select n.r, o.r
    from (
      select r, outbox.watched_part(r, v_key) as key from pg_catalog.unnest(p_new) r
    ) n
    full join (
      select r, outbox.watched_part(r, v_key) as key from pg_catalog.unnest(p_old) r
    ) o on o.key = n.key
  loop
    -- A row whose primary key has changed is another row.
    v_op := case
      when v_old is null then 'INSERT'
      when v_new is null then 'DELETE'
      else 'UPDATE'
    end;
    continue when not outbox.is_watched_change(v_new, v_old, p_watch);
    perform outbox.publish_change(p_watch, p_schema, p_table, v_op, v_new, v_old);
    v_any := true;
  end loop;
  return v_any;
end
$$;
comment on function outbox.publish_updates(jsonb, text, text, jsonb[], jsonb[]) is
  'Publishes the updates of one statement, rows before and after matched by primary key: one whose '
  'key has changed counts as deleted and inserted. True when there was one to publish.';

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
      pg_catalog.format('names %s, which %s does not have', pg_catalog.quote_nullable(v_missing),
        p_table),
      'Expected names of its columns, as the catalog has them');
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
      'Expected a table of the application''s own; of a view, watch the tables behind it');
  end if;
end
$$;
comment on function outbox.check_watched(regclass) is
  'Raises OH001 unless this is a table that can be watched.';

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
    perform outbox.invalid('except', 'is given beside columns', 'Give one of them');
  end if;
  if not coalesce(p_operations <@ '{insert,update,delete}' and p_operations <> '{}', false) then
    perform outbox.invalid('operations',
      pg_catalog.format('is %s', coalesce(p_operations::text, 'null')),
      'Expected some of insert, update and delete');
  end if;
  if p_per_statement and v_key = '{}' and 'update' = any (p_operations) then
    perform outbox.invalid('per_statement', 'is on for a table without primary key',
      'Rows before and after an update are matched by it: add one, or watch each row');
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
  'Publishes every change of the table''s rows from now on, in the transaction that makes it, or '
  'changes what is published. p_type may hold {op}: inserted, updated or deleted; p_org_column '
  'names the column with the organisation, p_partition_column the one with the partition key; '
  'p_columns or p_except choose what is published; an update counts only when a column of '
  'p_changed has changed. p_per_statement is for tables that are written in bulk. Returns what is '
  'in force. The owner of the table calls it. TRUNCATE is not seen. OH001.';

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
  'Publishes the changes of a table no more: {"table", "watched": whether it was until now}. '
  'OH001.';
