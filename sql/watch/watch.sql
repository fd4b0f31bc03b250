-- Watched tables: triggers publish each change of a row in the transaction of the change. The
-- payload is that of a Supabase Database Webhook, so a receiver of those can read it: {"type":
-- "INSERT", "table", "schema", "record", "old_record"}.
--
-- A trigger has one argument: JSON that watch_table() writes: {"type", "org_id", "org_column",
-- "partition_column", "columns", "except", "changed", "key"}. The trigger functions are SECURITY
-- DEFINER, so that a role such as authenticated publishes by writing to the table and in no other
-- way. The owner of the table chooses which columns are published.

create function outbox.watched_columns(p_row jsonb, p_watch jsonb) returns jsonb
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
comment on function outbox.watched_columns(jsonb, jsonb) is
  'The published columns of a row; null if there is no row.';

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
  'Whether a change is published: inserts and deletes always, an update if a column of "changed" '
  'differs or the watch has no "changed".';

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
      'record', outbox.watched_columns(p_new, p_watch),
      'old_record', outbox.watched_columns(p_old, p_watch))::text,
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
  'Publishes one change of a watched table. OH001 names the table and the problem of its event.';

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
  'Trigger of a watched table, after each row: publishes the change. watch_table() creates it.';

create function outbox.publish_rows() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_new jsonb;
  v_old jsonb;
  v_published boolean := false;
begin
  if tg_op = 'INSERT' then
    for v_new in select pg_catalog.to_jsonb(n) from new_rows n loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, v_new, null);
      v_published := true;
    end loop;
  elsif tg_op = 'DELETE' then
    for v_old in select pg_catalog.to_jsonb(o) from old_rows o loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, null, v_old);
      v_published := true;
    end loop;
  else
    v_published := outbox.publish_updates(v_watch, tg_table_schema, tg_table_name,
      array(select pg_catalog.to_jsonb(n) from new_rows n),
      array(select pg_catalog.to_jsonb(o) from old_rows o));
  end if;
  if v_published then
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;
comment on function outbox.publish_rows() is
  'Trigger of a watched table, after each statement, with the transition tables new_rows and '
  'old_rows: publishes the change of each row. watch_table(p_per_statement => true) creates it.';

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
  v_published boolean := false;
begin
  for v_new, v_old in
    select n.r, o.r
    from (
      select r, outbox.watched_columns(r, v_key) as key from pg_catalog.unnest(p_new) r
    ) n
    full join (
      select r, outbox.watched_columns(r, v_key) as key from pg_catalog.unnest(p_old) r
    ) o on o.key = n.key
  loop
    v_op := case
      when v_old is null then 'INSERT'
      when v_new is null then 'DELETE'
      else 'UPDATE'
    end;
    continue when not outbox.is_watched_change(v_new, v_old, p_watch);
    perform outbox.publish_change(p_watch, p_schema, p_table, v_op, v_new, v_old);
    v_published := true;
  end loop;
  return v_published;
end
$$;
comment on function outbox.publish_updates(jsonb, text, text, jsonb[], jsonb[]) is
  'Publishes the updates of one statement. The rows before and after are matched by primary key: '
  'a row with a changed key counts as deleted and inserted. True if at least one was published.';
