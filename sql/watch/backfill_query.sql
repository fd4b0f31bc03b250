-- The query for the rows of a backfill. Values are converted as by the triggers (column_value()).
-- Policies are not evaluated, because they could be code of another role, which would run with the
-- rights of the schema's owner: row_security = off raises an error if the owner may not see all
-- rows.

create function outbox.source_table(p_table regclass) returns text
language plpgsql stable set search_path = ''
as $$
begin
  -- The rows of tables that inherit from it belong to these tables.
  return case
      when (select c.relkind = 'p' from pg_catalog.pg_class c where c.oid = p_table) then ''
      else 'only '
    end || p_table;
end
$$;
comment on function outbox.source_table(regclass) is
  'The FROM item of a table: with its partitions, without the tables that inherit from it.';

create function outbox.most_row_bytes() returns integer
language sql immutable set search_path = ''
as $$
  select 8388608
$$;
comment on function outbox.most_row_bytes() is
  'A row that is larger, as it is stored, is not read: its event would be larger than any payload, '
  'and the memory of the server may not hold it.';

create function outbox.source_query(
  p_source outbox.backfill_source, p_watch jsonb, p_columns text[], p_only text, p_limit integer
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_named jsonb := p_watch -> 'columns';
begin
  return pg_catalog.format(
    'select %s as key, case when %s <= %s then '
      '(select pg_catalog.row_to_json(r.*) from (select %s) r) end as record, '
      '%s as org_id, %s as partition_key from %s n where %s and %s and %s order by %s limit %s',
    outbox.key_text(p_columns),
    (
      select pg_catalog.string_agg(
        pg_catalog.format('coalesce(pg_catalog.pg_column_size(n.%I), 0)', a.attname), ' + ')
      from pg_catalog.pg_attribute a
      where a.attrelid = p_source.source and a.attnum > 0 and not a.attisdropped
    ),
    outbox.most_row_bytes(),
    outbox.record_values(p_source.source, v_named, 'n'),
    case when v_named ? 'org_column'
      then outbox.text_value(p_source.source, 'n', v_named -> 'org_column' ->> 0) else 'null::text'
    end,
    case when v_named ? 'partition_column'
      then outbox.text_value(p_source.source, 'n', v_named -> 'partition_column' ->> 0)
      else 'null::text'
    end,
    outbox.source_table(p_source.source),
    outbox.key_bound(p_columns, '>', p_source.at_key),
    outbox.key_bound(p_columns, '<=', p_source.until_key),
    p_only,
    outbox.key_order(p_columns),
    p_limit);
end
$$;
comment on function
  outbox.source_query(outbox.backfill_source, jsonb, text[], text, integer) is
  'The query for the next rows of a table, n, with the columns of source_row; the record of a row '
  'above most_row_bytes() is null. p_only: a further condition.';

create function outbox.fetch_rows(
  p_query text, p_keys text[], p_most_bytes bigint
) returns outbox.source_row[]
language plpgsql volatile
set search_path = ''
set row_security = off
-- As set_text_settings().
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
-- The order is that of the index.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set jit = off
as $$
declare
  v_list refcursor;
  v_row outbox.source_row;
  v_rows outbox.source_row[] := array[]::outbox.source_row[];
  v_bytes bigint := 0;
begin
  open v_list for execute p_query using p_keys;
  -- One by one: a loop over the query would read ahead, and rows may be large.
  while v_bytes < p_most_bytes loop
    fetch v_list into v_row;
    exit when not found;
    v_bytes := v_bytes + coalesce(pg_catalog.octet_length(v_row.record::text), 0);
    v_rows := v_rows || v_row;
  end loop;
  close v_list;
  return v_rows;
end
$$;
comment on function outbox.fetch_rows(text, text[], bigint) is
  'The rows of a query with the columns of source_row. Each query of a table of a backfill is '
  'executed here, so that no setting of the session changes the text of a value. p_keys: $1 of the '
  'query. It reads no further row when it has p_most_bytes.';

create function outbox.read_source(
  p_source outbox.backfill_source, p_watch jsonb, p_limit integer, p_keys text[] default null,
  p_lock text default '', p_most_bytes bigint default 67108864
) returns outbox.source_row[]
language plpgsql volatile set search_path = ''
as $$
declare
  v_columns text[] := outbox.key_columns(p_source.source);
begin
  return outbox.fetch_rows(
    outbox.source_query(p_source, p_watch, v_columns,
      case
        when p_keys is null then 'true'
        else outbox.key_text(v_columns) || ' = any ($1)'
      end, p_limit) || p_lock, p_keys, p_most_bytes);
end
$$;
comment on function
  outbox.read_source(outbox.backfill_source, jsonb, integer, text[], text, bigint) is
  'The next rows of a table up to until_key, in the order of the primary key; only those of p_keys '
  'unless it is null. p_lock: the locking clause. It reads no further row when it has '
  'p_most_bytes.';

create function outbox.last_key(p_table regclass) returns text
language plpgsql volatile set search_path = ''
as $$
declare
  v_columns text[] := outbox.key_columns(p_table);
begin
  return (outbox.fetch_rows(
    pg_catalog.format('select %s, null::json, null::text, null::text from %s n order by %s limit 1',
      outbox.key_text(v_columns), outbox.source_table(p_table),
      outbox.key_order(v_columns, ' desc')), null, 1))[1].key;
end
$$;
comment on function outbox.last_key(regclass) is
  'The last primary key of a table, as in backfill_source; null if the table is empty. OH001.';
