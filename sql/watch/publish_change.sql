-- Watched tables: triggers publish each change of a row in the transaction of the change. The
-- payload is that of a Supabase Database Webhook, so a receiver of those can read it: {"type":
-- "INSERT", "table", "schema", "record", "old_record"}.
--
-- A trigger has one argument: JSON that watch_table() writes: {"type", "org_id", "named": the lists
-- of columns that watched_column.sql stores}. The trigger functions are SECURITY DEFINER, so that a
-- role such as authenticated publishes by writing to the table and in no other way. Their settings
-- determine the text of values, whatever the settings of the session are.

create function outbox.change_type(p_watch jsonb, p_op text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.replace(p_watch ->> 'type', '{op}',
    case p_op when 'INSERT' then 'inserted' when 'UPDATE' then 'updated' else 'deleted' end);
end
$$;
comment on function outbox.change_type(jsonb, text) is 'The type of the event of a change.';

create function outbox.change_body(
  p_op text, p_schema text, p_table text, p_record json, p_old_record json
) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.json_build_object('type', p_op, 'table', p_table, 'schema', p_schema,
    'record', p_record, 'old_record', p_old_record)::text;
end
$$;
comment on function outbox.change_body(text, text, text, json, json) is
  'The payload of a change.';

create function outbox.publish_change(
  p_watch jsonb, p_schema text, p_table text, p_op text, p_change outbox.watched_change
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_detail text;
  v_hint text;
begin
  perform outbox.put_event(outbox.new_event(
    outbox.clock(), outbox.change_type(p_watch, p_op),
    outbox.change_body(p_op, p_schema, p_table, p_change.record, p_change.old_record),
    coalesce(p_change.org_id, p_watch ->> 'org_id'),
    case
      when pg_catalog.length(p_change.partition_key) > 256 then
        pg_catalog.encode(
          pg_catalog.sha256(pg_catalog.convert_to(p_change.partition_key, 'UTF8')), 'hex')
      else p_change.partition_key
    end,
    null, null, null, null, null));
exception when sqlstate 'OH001' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = 'OH001', detail = v_detail, hint = v_hint,
    message = pg_catalog.format('the change of %I.%I cannot be published: %s', p_schema, p_table,
      sqlerrm);
end
$$;
comment on function
  outbox.publish_change(jsonb, text, text, text, outbox.watched_change) is
  'Publishes one change of a watched table. Of a partition key with more than 256 characters, the '
  'event has the SHA-256 in hex. OH001 names the table and the problem of its event.';

create function outbox.watched_name(p_table oid, p_trigger name) returns text[]
language plpgsql stable set search_path = ''
as $$
declare
  v_table oid := p_table;
  v_trigger oid;
begin
  select t.tgparentid into v_trigger from pg_catalog.pg_trigger t
  where t.tgrelid = p_table and t.tgname = p_trigger;
  while v_trigger <> 0 loop
    select t.tgrelid, t.tgparentid into v_table, v_trigger from pg_catalog.pg_trigger t
    where t.oid = v_trigger;
  end loop;
  return (
    pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::regclass, v_table, 0)
  ).object_names;
end
$$;
comment on function outbox.watched_name(oid, name) is
  'The schema and name of the table that is watched, which has this partition.';

create function outbox.warn_of_watch(p_table oid) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise warning using
    message = pg_catalog.format('outbox: changes of %s are not published', p_table::regclass),
    detail = 'A column that its watch names was dropped',
    hint = 'Call outbox.watch_table() for it again';
end
$$;
comment on function outbox.warn_of_watch(oid) is
  'Warns that a watch is broken: see the view broken_watch.';

create function outbox.publish_row() returns trigger
language plpgsql security definer
set search_path = ''
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_name text[] := array[tg_table_schema, tg_table_name];
  v_change outbox.watched_change;
  v_query text;
begin
  if pg_catalog.pg_partition_root(tg_relid) is not null then
    v_name := outbox.watched_name(tg_relid, tg_name);
  end if;
  -- Without a list of columns, and with types of Postgres alone, no query has to be built: no role
  -- can define a cast of such a type to json. An older snapshot might not see another type.
  if not v_watch ? 'named'
    and pg_catalog.current_setting('transaction_isolation') = 'read committed'
    and not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = tg_relid and a.attnum > 0
        and (a.atttypid >= 16384 or a.atttypid in ('money'::regtype, 'money[]'::regtype)))
  then
    if tg_op <> 'DELETE' then
      v_change.record := pg_catalog.row_to_json(new);
    end if;
    if tg_op <> 'INSERT' then
      v_change.old_record := pg_catalog.row_to_json(old);
    end if;
  else
    v_query := outbox.watch_query(tg_relid, v_watch, tg_op,
      case tg_op
        when 'INSERT' then 'from (select ($1).*) n'
        when 'DELETE' then 'from (select ($2).*) o'
        else 'from (select ($1).*) n, (select ($2).*) o'
      end);
    if v_query is null then
      perform outbox.warn_of_watch(tg_relid);
      return null;
    elsif tg_op = 'INSERT' then
      execute v_query into v_change using new;
    elsif tg_op = 'DELETE' then
      execute v_query into v_change using old, old;
    else
      execute v_query into v_change using new, old;
    end if;
    -- Of an update without a change of these columns, the query has no row.
    if v_change.record is null and v_change.old_record is null then
      return null;
    end if;
  end if;
  perform outbox.publish_change(v_watch, v_name[1], v_name[2], tg_op, v_change);
  if pg_catalog.current_setting('outbox.kicked', true)
    is distinct from pg_catalog.pg_current_xact_id()::text
  then
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;
comment on function outbox.publish_row() is
  'Trigger of a watched table, after each row: publishes the change. watch_table() creates it.';

create function outbox.publish_rows() returns trigger
language plpgsql security definer
set search_path = ''
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_change outbox.watched_change;
  v_query text;
  v_published boolean := false;
begin
  if tg_op = 'INSERT' then
    v_query := outbox.watch_query(tg_relid, v_watch, tg_op, 'from new_rows n');
  elsif tg_op = 'DELETE' then
    v_query := outbox.watch_query(tg_relid, v_watch, tg_op, 'from old_rows o');
  elsif (select pg_catalog.count(*) from new_rows) = (select pg_catalog.count(*) from old_rows) then
    v_query := outbox.watch_query(tg_relid, v_watch, tg_op, outbox.paired_rows());
  else
    -- A trigger of the application suppressed a row that moved to another partition.
    v_query := outbox.watch_query(tg_relid, v_watch, 'DELETE', 'from old_rows o') || ' union all '
      || outbox.watch_query(tg_relid, v_watch, 'INSERT', 'from new_rows n');
  end if;
  if v_query is null then
    perform outbox.warn_of_watch(tg_relid);
    return null;
  end if;
  for v_change in execute v_query loop
    perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name,
      case
        when v_change.record is null then 'DELETE'
        when v_change.old_record is null then 'INSERT'
        else 'UPDATE'
      end, v_change);
    v_published := true;
  end loop;
  if v_published then
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;
comment on function outbox.publish_rows() is
  'Trigger of a watched table, after each statement, with the transition tables new_rows and '
  'old_rows: publishes the change of each row. watch_table(p_per_statement => true) creates it.';
