-- The trigger for tables that are written in bulk: one call for each statement.

create function outbox.publish_rows() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_named jsonb := '{}'::jsonb;
  v_plain boolean;
  -- False if a trigger of the application suppressed a row that moved to another partition.
  v_paired boolean := true;
  v_settings text[];
  v_changes refcursor;
  v_change outbox.watched_change;
  v_published boolean := false;
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
  -- As in publish_row().
  v_plain := pg_catalog.current_setting('transaction_isolation') = 'read committed'
    and not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = tg_relid and a.attnum > 0
        and (a.atttypid >= 16384 or a.atttypid in (790, 791)
          or a.atttypid in (114, 199) and v_named <> '{}'));
  if tg_op = 'UPDATE' then
    v_paired := (select pg_catalog.count(*) from new_rows)
      = (select pg_catalog.count(*) from old_rows);
  end if;
  if v_named is null then
    perform outbox.warn_of_watch(tg_relid);
  elsif not v_paired then
    open v_changes for execute
      outbox.watch_query(tg_relid, v_named, 'DELETE', 'from old_rows o') || ' union all '
      || outbox.watch_query(tg_relid, v_named, 'INSERT', 'from new_rows n');
  elsif tg_op = 'INSERT' and v_plain then
    open v_changes for
      select pg_catalog.row_to_json(n.*), null, null, null, true from new_rows n;
  elsif tg_op = 'INSERT' then
    open v_changes for execute
      outbox.watch_query(tg_relid, v_named, tg_op, 'from new_rows n');
  elsif tg_op = 'DELETE' and v_plain then
    open v_changes for
      select null, pg_catalog.row_to_json(o.*), null, null, true from old_rows o;
  elsif tg_op = 'DELETE' then
    open v_changes for execute
      outbox.watch_query(tg_relid, v_named, tg_op, 'from old_rows o');
  elsif v_plain then
    -- Pairs by number: see paired_rows().
    open v_changes for
      select n.r, o.r, null, null, true
      from (select pg_catalog.row_number() over () as i, pg_catalog.row_to_json(n.*) as r
        from new_rows n) n
      join (select pg_catalog.row_number() over () as i, pg_catalog.row_to_json(o.*) as r
        from old_rows o) o using (i);
  else
    open v_changes for execute
      outbox.watch_query(tg_relid, v_named, tg_op, outbox.paired_rows());
  end if;
  while v_named is not null loop
    fetch v_changes into v_change;
    exit when not found;
    if v_plain and v_paired and v_named <> '{}' then
      v_change := outbox.plain_change(v_change.record, v_change.old_record, v_named);
    end if;
    continue when not v_change.changed;
    perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name,
      case
        when v_change.record is null then 'DELETE'
        when v_change.old_record is null then 'INSERT'
        else 'UPDATE'
      end, v_change);
    v_published := true;
  end loop;
  if v_named is not null then
    close v_changes;
  end if;
  if v_settings is not null then
    perform outbox.restore_settings(v_settings);
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
