-- A row of a partitioned table that an update moves to another partition. Postgres calls the row
-- triggers as if it were deleted and inserted, so publish_row() publishes two events. At the end of
-- the statement, publish_moves() replaces them by one update.

create function outbox.partition_columns(p_table oid) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  -- If a key is an expression, which has the number 0, all columns.
  return (
    select case
      when pg_catalog.bool_and(k.attnum > 0) then pg_catalog.jsonb_agg(distinct b.attname)
      else (
        select pg_catalog.jsonb_agg(a.attname) from pg_catalog.pg_attribute a
        where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped)
    end
    from pg_catalog.pg_partition_tree(p_table) r
    join pg_catalog.pg_partitioned_table p on p.partrelid = r.relid
    cross join lateral pg_catalog.unnest(p.partattrs::smallint[]) k (attnum)
    left join pg_catalog.pg_attribute b on b.attrelid = r.relid and b.attnum = k.attnum);
end
$$;
comment on function outbox.partition_columns(oid) is
  'The columns of a partitioned table that can determine the partition of a row.';

create function outbox.is_own_row(p_xmin xid) returns boolean
language plpgsql volatile set search_path = ''
as $$
declare
  v_top bigint := pg_catalog.pg_current_xact_id()::text::bigint;
  v_xid bigint := ((v_top >> 32) << 32) | p_xmin::text::bigint;
begin
  return v_xid >= v_top and pg_catalog.pg_xact_status(v_xid::text::xid8) = 'in progress';
end
$$;
comment on function outbox.is_own_row(xid) is
  'Whether the current transaction wrote a row that it can see.';

create function outbox.unpublish_moved(
  p_watch jsonb, p_schema text, p_table text, p_changes outbox.watched_change[]
) returns integer[]
language plpgsql set search_path = ''
as $$
declare
  v_ops jsonb := p_watch -> 'operations';
  v_moved integer[];
  v_events uuid[];
begin
  -- Equal bodies are counted, because rows may differ only in columns that are not published.
  with own as materialized (
    select e.id, e.body,
      pg_catalog.row_number() over (partition by e.body order by e.id desc) as n
    from outbox.event e
    where e.id >= outbox.uuid_v7_floor(pg_catalog.now())
      and e.type in (pg_catalog.replace(p_watch ->> 'type', '{op}', 'inserted'),
        pg_catalog.replace(p_watch ->> 'type', '{op}', 'deleted'))
      and outbox.is_own_row(e.xmin)
  ), pair as materialized (
    select b.*, pg_catalog.row_number() over (partition by b.deleted) as deleted_n,
      pg_catalog.row_number() over (partition by b.inserted) as inserted_n
    from (
      select c.ordinality::integer as place,
        pg_catalog.json_build_object('type', 'DELETE', 'table', p_table, 'schema', p_schema,
          'record', null, 'old_record', c.old_record)::text as deleted,
        pg_catalog.json_build_object('type', 'INSERT', 'table', p_table, 'schema', p_schema,
          'record', c.record, 'old_record', null)::text as inserted
      from pg_catalog.unnest(p_changes) with ordinality c
    ) b
  ), moved as (
    select p.place, d.id as deleted_id, i.id as inserted_id
    from pair p
    left join own d on d.body = p.deleted and d.n = p.deleted_n
    left join own i on i.body = p.inserted and i.n = p.inserted_n
    where (d.id is not null or not v_ops ? 'delete') and (i.id is not null or not v_ops ? 'insert')
  )
  select pg_catalog.array_agg(m.place order by m.place),
    pg_catalog.array_agg(m.deleted_id) || pg_catalog.array_agg(m.inserted_id)
  into v_moved, v_events
  from moved m;
  delete from outbox.unrouted u where u.event_id = any (v_events);
  delete from outbox.event e where e.id = any (v_events);
  return v_moved;
end
$$;
comment on function outbox.unpublish_moved(jsonb, text, text, outbox.watched_change[]) is
  'Removes the events that the current transaction published of rows that have moved: a deletion '
  'and an insertion. Returns the places of these rows.';

create function outbox.publish_moves() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_named jsonb := outbox.named_columns(tg_relid, v_watch);
  v_settings text[];
  v_changes outbox.watched_change[];
  v_place integer;
begin
  if v_named is null
    or (select pg_catalog.count(*) from new_rows) <> (select pg_catalog.count(*) from old_rows)
  then
    return null;
  end if;
  if pg_catalog.concat_ws(';', pg_catalog.current_setting('timezone'),
    pg_catalog.current_setting('datestyle'), pg_catalog.current_setting('intervalstyle'),
    pg_catalog.current_setting('bytea_output'), pg_catalog.current_setting('extra_float_digits'),
    pg_catalog.current_setting('quote_all_identifiers')) <> 'UTC;ISO, MDY;postgres;hex;1;off'
  then
    v_settings := outbox.set_text_settings();
  end if;
  execute pg_catalog.format(
    'select pg_catalog.array_agg(q::outbox.watched_change) from (%s) q',
    outbox.watch_query(tg_relid, v_named, 'UPDATE', outbox.paired_rows(),
      outbox.changed_value(outbox.partition_columns(tg_relid))))
  into v_changes;
  if v_settings is not null then
    perform outbox.restore_settings(v_settings);
  end if;
  if v_changes is null then
    return null;
  end if;
  foreach v_place in array coalesce(
    outbox.unpublish_moved(v_watch, tg_table_schema, tg_table_name, v_changes), '{}')
  loop
    continue when not v_watch -> 'operations' ? 'update' or not v_changes[v_place].changed;
    perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, 'UPDATE',
      v_changes[v_place]);
  end loop;
  return null;
end
$$;
comment on function outbox.publish_moves() is
  'Trigger of a partitioned table, after each update statement: publishes a row that has moved to '
  'another partition as one update. watch_table() creates it.';
