-- The columns that a watch names. Their names are stored nowhere: each list of columns is the
-- UPDATE OF list of a trigger that never fires, outhook_except for p_except and so on. Postgres
-- stores the numbers of these columns and dumps their names. So a list follows a rename, is right
-- after a dump and restore, and refuses DROP COLUMN. The arguments of the trigger say which list it
-- is, because a user may change its name.
--
-- Snapshots. In READ COMMITTED, each query of a trigger function sees the latest catalog, and the
-- writer's lock keeps the columns as they are. A transaction of a higher isolation level may see an
-- older catalog than the row that it writes. column_guard() detects this.

create function outbox.name_columns() returns trigger
language plpgsql set search_path = ''
as $$
begin
  return null;
end
$$;
comment on function outbox.name_columns() is
  'Trigger that never fires: its UPDATE OF list stores columns that watch_table() names.';

create function outbox.named_columns(p_table oid, p_watch jsonb) returns jsonb
language plpgsql volatile set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  v_call bytea := pg_catalog.convert_to(p_watch ->> 'call', 'UTF8') || '\x00'::bytea;
  v_named jsonb;
  v_lists integer;
begin
  if not p_watch ? 'named' then
    return '{}'::jsonb;
  end if;
  -- By the call too, because an older snapshot may show a list of another call of watch_table().
  select pg_catalog.count(*), pg_catalog.jsonb_object_agg(l, (
    select pg_catalog.jsonb_agg(a.attname)
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attnum = any (t.tgattr)))
  into v_lists, v_named
  from pg_catalog.pg_trigger t
  join pg_catalog.jsonb_array_elements_text(p_watch -> 'named') l
    on t.tgargs = v_call || pg_catalog.convert_to(l, 'UTF8') || '\x00'::bytea
  where t.tgrelid = p_table and t.tgfoid = 'outbox.name_columns()'::regprocedure;
  if v_lists = pg_catalog.jsonb_array_length(p_watch -> 'named') then
    return v_named;
  end if;
  if pg_catalog.current_setting('transaction_isolation') <> 'read committed' then
    perform outbox.refuse_old_snapshot();
  end if;
  return null;
end
$$;
comment on function outbox.named_columns(oid, jsonb) is
  'The columns that a watch names, with their present names: {"org_column": ["org"], "except": '
  '["a", "b"], …}. Null if one of the lists is gone, because a column was dropped with CASCADE. '
  'OH004.';

create function outbox.column_guard(p_table oid, p_row text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_names text[];
  v_latest text[];
  v_types text;
  v_expected oid[];
begin
  select pg_catalog.array_agg(a.attname::text order by a.attnum),
    pg_catalog.array_agg((
      select i.object_names[3]
      from pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::regclass, p_table,
        a.attnum) i
    ) order by a.attnum),
    pg_catalog.string_agg(
      pg_catalog.format('pg_catalog.pg_typeof(%s.%I)::pg_catalog.oid', p_row, a.attname), ', '
      order by a.attnum),
    pg_catalog.array_agg(a.atttypid order by a.attnum)
  into v_names, v_latest, v_types, v_expected
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped;
  if v_names is distinct from v_latest then
    return 'false';
  elsif v_names is null then
    return 'true';
  end if;
  return pg_catalog.format('array[%s] = %L::pg_catalog.oid[]', v_types, v_expected);
end
$$;
comment on function outbox.column_guard(oid, text) is
  'The SQL condition that a row has the columns and types that this transaction sees in the '
  'catalog. The names are compared here with the latest catalog.';

create function outbox.refuse_old_snapshot() returns json
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH004',
    message = 'the watched table was altered after this transaction had begun',
    hint = 'Run the transaction again; READ COMMITTED does not have this error';
end
$$;
comment on function outbox.refuse_old_snapshot() is
  'Raises OH004: a REPEATABLE READ or SERIALIZABLE transaction sees other columns in the catalog '
  'than the row has.';
