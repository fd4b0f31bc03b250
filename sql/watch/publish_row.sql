-- The triggers of a watched table publish each change of a row in the transaction of the change.
-- They have one argument: JSON that watch_table() writes: {"type", "org_id", "named": the lists of
-- columns that named_column stores, "call": a uuid of this call}. They are SECURITY DEFINER, so
-- that a role such as authenticated publishes by writing to the table and in no other way.
--
-- Six settings of the session determine the text of values. A clause SET for each of them would add
-- a fifth to the time of a trigger, so the triggers set them only in a session that has others.

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
  'The schema and name of the table that is watched: the partition, or the partitioned table that '
  'its trigger comes from.';

create function outbox.publish_row() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_named jsonb := '{}'::jsonb;
  v_name text[] := array[tg_table_schema, tg_table_name];
  v_settings text[];
  v_change outbox.watched_change;
begin
  if pg_catalog.concat_ws(';', pg_catalog.current_setting('timezone'),
    pg_catalog.current_setting('datestyle'), pg_catalog.current_setting('intervalstyle'),
    pg_catalog.current_setting('bytea_output'), pg_catalog.current_setting('extra_float_digits'),
    pg_catalog.current_setting('quote_all_identifiers')) <> 'UTC;ISO, MDY;postgres;hex;1;off'
  then
    v_settings := outbox.set_text_settings();
  end if;
  if v_watch ? 'named' then
    v_named := outbox.named_columns(tg_relid, v_watch);
  end if;
  if v_named is null then
    perform outbox.warn_of_watch(tg_relid);
  elsif
    -- Only types of Postgres: no role can define a cast of such a type to json. Not money (790,
    -- 791), which depends on a setting. With lists of columns, also not json (114, 199), because
    -- reading a member of {"a": "\u0000"} is an error. An older snapshot might not show a type.
    pg_catalog.current_setting('transaction_isolation') = 'read committed'
    and not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = tg_relid and a.attnum > 0
        and (a.atttypid >= 16384 or a.atttypid in (790, 791)
          or a.atttypid in (114, 199) and v_named <> '{}'))
    and (pg_catalog.pg_partition_root(tg_relid) is null or outbox.has_root_order(tg_relid))
  then
    if tg_op <> 'DELETE' then
      v_change.record := pg_catalog.row_to_json(new);
    end if;
    if tg_op <> 'INSERT' then
      v_change.old_record := pg_catalog.row_to_json(old);
    end if;
    v_change.changed := true;
    if v_named <> '{}' then
      v_change := outbox.plain_change(v_change.record, v_change.old_record, v_named);
    end if;
  elsif tg_op = 'INSERT' then
    execute outbox.watch_query(tg_relid, v_named, tg_op, 'from (select ($1).*) n')
      into v_change using new;
  elsif tg_op = 'DELETE' then
    execute outbox.watch_query(tg_relid, v_named, tg_op, 'from (select ($1).*) o')
      into v_change using old;
  else
    execute outbox.watch_query(tg_relid, v_named, tg_op,
      'from (select ($1).*) n, (select ($2).*) o') into v_change using new, old;
  end if;
  if v_settings is not null then
    perform outbox.restore_settings(v_settings);
  end if;
  -- Null if the query has no row: no column of p_changed differs.
  if v_change.changed then
    if pg_catalog.pg_partition_root(tg_relid) is not null then
      v_name := outbox.watched_name(tg_relid, tg_name);
    end if;
    perform outbox.publish_change(v_watch, v_name[1], v_name[2], tg_op, v_change);
    if pg_catalog.current_setting('outbox.kicked', true)
      is distinct from pg_catalog.pg_current_xact_id()::text
    then
      perform outbox.kick_on_commit();
    end if;
  end if;
  return null;
end
$$;
comment on function outbox.publish_row() is
  'Trigger of a watched table, after each row: publishes the change. watch_table() creates it.';
