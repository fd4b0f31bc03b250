create function outbox.name_columns_of(
  p_table regclass, p_list text, p_columns text[], p_call text
) returns void
language plpgsql set search_path = ''
as $$
begin
  execute pg_catalog.format(
    'create trigger %I after update of %s on %s for each row when (false) '
    'execute function outbox.name_columns(%L, %L)',
    'outhook_' || p_list,
    (
      select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ')
      from (select distinct c from pg_catalog.unnest(p_columns) c) c
    ), p_table, p_call, p_list);
end
$$;
comment on function outbox.name_columns_of(regclass, text, text[], text) is
  'Stores a list of columns of a watch as a trigger that never fires. p_call: the call of '
  'watch_table(), as in the argument of the other triggers.';

create function outbox.create_watch(
  p_table regclass, p_watch jsonb, p_operations text[], p_per_statement boolean
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_op text;
begin
  if not p_per_statement then
    execute pg_catalog.format(
      'create trigger outhook_row after %s on %s for each row '
      'execute function outbox.publish_row(%L)',
      pg_catalog.array_to_string(p_operations, ' or '), p_table, p_watch);
    if (select c.relkind = 'p' from pg_catalog.pg_class c where c.oid = p_table) then
      execute pg_catalog.format(
        'create trigger outhook_moves after update on %s '
        'referencing new table as new_rows old table as old_rows for each statement '
        'execute function outbox.publish_moves(%L)',
        p_table, p_watch || pg_catalog.jsonb_build_object('operations', p_operations));
    end if;
    return;
  end if;
  foreach v_op in array p_operations loop
    execute pg_catalog.format(
      'create trigger %I after %s on %s referencing %s for each statement '
      'execute function outbox.publish_rows(%L)',
      'outhook_' || v_op, v_op, p_table,
      case v_op
        when 'insert' then 'new table as new_rows'
        when 'delete' then 'old table as old_rows'
        else 'new table as new_rows old table as old_rows'
      end, p_watch);
  end loop;
end
$$;
comment on function outbox.create_watch(regclass, jsonb, text[], boolean) is
  'Creates the triggers that publish the changes of a table.';

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
  v_type text;
  v_columns jsonb := outbox.column_lists(p_org_column, p_partition_column, p_columns, p_except,
    p_changed);
  v_watch jsonb;
  v_list text;
  v_names text[];
begin
  perform outbox.check_watched(p_table);
  v_type := outbox.watched_type(p_table, p_type);
  perform outbox.check_user_org(p_org_id);
  perform outbox.check_lists(p_table, v_columns);
  if not coalesce(p_operations <@ '{insert,update,delete}' and p_operations <> '{}', false) then
    perform outbox.invalid('operations',
      pg_catalog.format('is %s', coalesce(p_operations::text, 'null')),
      'Expected a list of insert, update and delete');
  end if;
  perform outbox.check_tree(p_table, p_operations, p_per_statement);
  v_watch := pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'type', v_type, 'org_id', case when p_org_column is null then p_org_id end,
    'named', (select pg_catalog.jsonb_agg(k) from pg_catalog.jsonb_object_keys(v_columns) k),
    'call', pg_catalog.gen_random_uuid()));
  perform outbox.unwatch_table(p_table);
  for v_list, v_names in
    select e.key, array(select pg_catalog.jsonb_array_elements_text(e.value))
    from pg_catalog.jsonb_each(v_columns) e
  loop
    perform outbox.name_columns_of(p_table, v_list, v_names, v_watch ->> 'call');
  end loop;
  perform outbox.create_watch(p_table, v_watch, p_operations, p_per_statement);
  return (v_watch - '{named,call}'::text[]) || v_columns
    || pg_catalog.jsonb_build_object('table', p_table::text,
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
  'column of p_changed differs. p_per_statement is faster for bulk writes. The lists follow a '
  'renamed column; a column in a list cannot be dropped or get another type until '
  'unwatch_table(). Returns the settings, each list of columns as an array. Call it as the owner '
  'of the table. TRUNCATE is not published. OH001.';

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
      and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure,
        'outbox.publish_moves()'::regprocedure, 'outbox.name_columns()'::regprocedure)
  loop
    execute pg_catalog.format('drop trigger %I on %s', v_trigger, p_table);
    v_dropped := v_dropped + 1;
  end loop;
  return pg_catalog.jsonb_build_object('table', p_table::text, 'watched', false,
    'was_watched', v_dropped > 0);
end
$$;
comment on function outbox.unwatch_table(regclass) is
  'Stops publishing the changes of a table: {"table", "watched": false, "was_watched": whether it '
  'was watched until now}. OH001.';
