-- The query that converts the changed rows of a trigger into JSON. It is built from the catalog at
-- each call of a trigger, so it has the present names and types. It is for tables with types of the
-- application; plain_change converts all others without it, in less time.

create type outbox.watched_change as (
  record json,
  old_record json,
  org_id text,
  partition_key text,
  changed boolean
);
comment on type outbox.watched_change is
  'One changed row: the published columns after and before the change, the organisation and the '
  'partition key that its columns have, and whether the change is published.';

create function outbox.record_values(p_table oid, p_named jsonb, p_row text) returns text
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  v_root oid := pg_catalog.pg_partition_root(p_table);
begin
  return (
    select pg_catalog.string_agg(
      case
        when a.atttypid < 16384 and a.atttypid not in (790, 791)
        then pg_catalog.format('%s.%I', p_row, a.attname)
        -- As column_value(), whose queries would double the time of a trigger.
        when (select t.typtype = 'e' from pg_catalog.pg_type t where t.oid = a.atttypid)
        then pg_catalog.format(
          'case pg_catalog.num_nulls(%1$s.%2$I) when 0 then pg_catalog.format(''%%s'', %1$s.%2$I) '
          'end as %2$I', p_row, a.attname)
        else pg_catalog.format('%s as %I',
          outbox.column_value(pg_catalog.format('%s.%I', p_row, a.attname), a.atttypid), a.attname)
      end, ', '
      -- In the order of the partitioned table: see has_root_order().
      order by case
        when v_root is null then a.attnum
        else (
          select r.attnum from pg_catalog.pg_attribute r
          where r.attrelid = v_root and r.attname = a.attname)
      end)
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
      and (not p_named ? 'columns' or p_named -> 'columns' ? a.attname)
      and (not p_named ? 'except' or not p_named -> 'except' ? a.attname));
end
$$;
comment on function outbox.record_values(oid, jsonb, text) is
  'The SQL expressions of the published columns of a row. p_row: its alias, n, o or v.';

create function outbox.text_value(p_table oid, p_row text, p_column text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_column text := pg_catalog.format('%s.%I', p_row, p_column);
  v_base oid;
begin
  select outbox.base_type(a.atttypid) into v_base
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attname = p_column;
  return case
    -- As in JSON: true and not t, 2026-01-31T12:00:00+00:00 and not 2026-01-31 12:00:00+00.
    when v_base in ('boolean'::regtype, 'date'::regtype, 'timestamp'::regtype,
      'timestamptz'::regtype)
    then pg_catalog.format('pg_catalog.to_json(%s::%s) #>> ''{}''', v_column, v_base::regtype)
    else pg_catalog.format('case pg_catalog.num_nulls(%1$s) when 0 then outbox.text_of(%1$s) end',
      v_column)
  end;
end
$$;
comment on function outbox.text_value(oid, text, text) is
  'The SQL expression of one column as text, such as a partition key.';

create function outbox.changed_value(p_columns jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- Compares the stored bytes, because "=" of a type can be code of the application.
  return (
    select pg_catalog.format('pg_catalog.record_image_ne(row(%s), row(%s))',
      pg_catalog.string_agg(pg_catalog.format('n.%I', c), ', ' order by c),
      pg_catalog.string_agg(pg_catalog.format('o.%I', c), ', ' order by c))
    from pg_catalog.jsonb_array_elements_text(p_columns) c);
end
$$;
comment on function outbox.changed_value(jsonb) is
  'The SQL condition that one of these columns differs between the rows n and o.';

create function outbox.paired_rows() returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_rows constant text := '(select pg_catalog.row_number() over () as i, "outhook row" as r '
    'from %s "outhook row")';
begin
  -- An update adds the row before and the row after to the two tables at the same time, also if the
  -- row moves to another partition. So rows with the same number belong together. A primary key
  -- does not tell this: an update may change it.
  return pg_catalog.format('from %s x join %s y using (i), lateral (select (x.r).*) n, '
    'lateral (select (y.r).*) o',
    pg_catalog.format(v_rows, 'new_rows'), pg_catalog.format(v_rows, 'old_rows'));
end
$$;
comment on function outbox.paired_rows() is
  'The FROM of watch_query() for the updates of a statement, with its transition tables.';

create function outbox.watch_query(
  p_table oid, p_named jsonb, p_op text, p_rows text, p_only text default null
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_row text := case p_op when 'DELETE' then 'o' else 'n' end;
  -- Of an update, both rows have the same expressions, which are built once, for a row v. All other
  -- queries need no such row: planning it takes a quarter of the time of the query.
  v_record text := pg_catalog.concat(
    '(select pg_catalog.row_to_json(r.*) from (select ',
    pg_catalog.replace(outbox.record_values(p_table, p_named,
      case p_op when 'UPDATE' then 'v' else v_row end), '%', '%%'),
    case p_op when 'UPDATE' then ' from (select %s.*) v' end, ') r)');
  v_changed text := case
    when p_op = 'UPDATE' and p_named ? 'changed' then outbox.changed_value(p_named -> 'changed')
    else 'true'
  end;
begin
  if pg_catalog.current_setting('transaction_isolation') <> 'read committed' then
    v_record := pg_catalog.concat('case when ',
      pg_catalog.replace(outbox.column_guard(p_table, v_row), '%', '%%'), ' then ', v_record,
      ' else outbox.refuse_old_snapshot() end');
  end if;
  return pg_catalog.concat_ws(' ', 'select',
    case when p_op = 'DELETE' then 'null' else pg_catalog.format(v_record, 'n') end, ',',
    case when p_op = 'INSERT' then 'null' else pg_catalog.format(v_record, 'o') end, ',',
    case when p_named ? 'org_column'
      then outbox.text_value(p_table, v_row, p_named -> 'org_column' ->> 0) else 'null' end, ',',
    case when p_named ? 'partition_column'
      then outbox.text_value(p_table, v_row, p_named -> 'partition_column' ->> 0) else 'null'
    end, ',',
    v_changed, p_rows, 'where', coalesce(p_only, v_changed));
end
$$;
comment on function outbox.watch_query(oid, jsonb, text, text, text) is
  'The query for the changes of a table that are published, with the columns of watched_change. '
  'p_named: the result of named_columns(); p_rows: its FROM with the rows n (after) and o '
  '(before); p_only: a condition that selects other rows.';
