-- The query that converts the changed rows of a trigger into JSON. It is built from the catalog at
-- each call of a trigger, so it has the present names and types.

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

create function outbox.named_columns(p_table oid, p_watch jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_named jsonb;
begin
  select pg_catalog.jsonb_object_agg(pg_catalog.substr(t.tgname, 9), t.tgattr::smallint[])
  into v_named
  from pg_catalog.pg_trigger t
  where t.tgrelid = p_table and t.tgfoid = 'outbox.name_columns()'::regprocedure;
  if v_named ?& array(select pg_catalog.jsonb_array_elements_text(p_watch -> 'named')) then
    return v_named;
  end if;
  if pg_catalog.current_setting('transaction_isolation') <> 'read committed' then
    perform outbox.refuse_old_snapshot();
  end if;
  return null;
end
$$;
comment on function outbox.named_columns(oid, jsonb) is
  'The numbers of the columns that a watch names: {"org_column": [2], "except": [4, 5], …}. Null '
  'if one of the lists is gone, because a column was dropped with CASCADE. OH004.';

create function outbox.record_value(p_table oid, p_row text, p_named jsonb) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.format('(select pg_catalog.row_to_json(r.*) from (select %s) r)',
      pg_catalog.string_agg(
        pg_catalog.format('%s as %I',
          outbox.column_value(pg_catalog.format('%s.%I', p_row, a.attname), a.atttypid),
          a.attname), ', ' order by a.attnum))
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
      and (not p_named ? 'columns' or p_named -> 'columns' @> pg_catalog.to_jsonb(a.attnum))
      and (not p_named ? 'except' or not p_named -> 'except' @> pg_catalog.to_jsonb(a.attnum)));
end
$$;
comment on function outbox.record_value(oid, text, jsonb) is
  'The SQL expression of the published columns of a row, as json.';

create function outbox.text_value(p_table oid, p_row text, p_column jsonb) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_column text;
  v_base oid;
begin
  select pg_catalog.format('%s.%I', p_row, a.attname), outbox.base_type(a.atttypid)
  into v_column, v_base
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attnum = (p_column ->> 0)::smallint;
  return case
    when v_column is null then 'null'
    -- As in JSON: true and not t, 2026-01-31T12:00:00+00:00 and not 2026-01-31 12:00:00+00.
    when v_base in ('boolean'::regtype, 'date'::regtype, 'timestamp'::regtype,
      'timestamptz'::regtype)
    then pg_catalog.format('pg_catalog.to_json(%s::%s) #>> ''{}''', v_column, v_base::regtype)
    else pg_catalog.format('case pg_catalog.num_nulls(%1$s) when 0 then %2$s(%3$s%1$s) end',
      v_column, case v_base when 'money'::regtype then 'outbox.text_of' else 'pg_catalog.format' end,
      case v_base when 'money'::regtype then '' else '''%s'', ' end)
  end;
end
$$;
comment on function outbox.text_value(oid, text, jsonb) is
  'The SQL expression of one column as text, such as a partition key; null without a column.';

create function outbox.changed_value(p_table oid, p_columns jsonb) returns text
language plpgsql stable set search_path = ''
as $$
begin
  -- Compares the stored bytes, because "=" of a type can be code of the application.
  return (
    select pg_catalog.format('pg_catalog.record_image_ne(row(%s), row(%s))',
      pg_catalog.string_agg(pg_catalog.format('n.%I', a.attname), ', ' order by a.attnum),
      pg_catalog.string_agg(pg_catalog.format('o.%I', a.attname), ', ' order by a.attnum))
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
      and (p_columns is null or p_columns @> pg_catalog.to_jsonb(a.attnum)));
end
$$;
comment on function outbox.changed_value(oid, jsonb) is
  'The SQL condition that one of these columns, or of all columns, differs between the rows n '
  'and o.';

create function outbox.paired_rows() returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- An update adds the row before and the row after to the two tables at the same time, also if the
  -- row moves to another partition. So rows with the same number belong together. A primary key
  -- does not tell this: an update may change it.
  return (
    select pg_catalog.format('from %s x join %s y using (i), lateral (select (x.r).*) n, '
        'lateral (select (y.r).*) o',
      pg_catalog.format(v_rows, 'new_rows'), pg_catalog.format(v_rows, 'old_rows'))
    from (
      select '(select pg_catalog.row_number() over () as i, "outhook row" as r '
        'from %s "outhook row")' as v_rows
    ) r);
end
$$;
comment on function outbox.paired_rows() is
  'The FROM of watch_query() for the updates of a statement, with its transition tables.';

create function outbox.watch_query(
  p_table oid, p_watch jsonb, p_op text, p_rows text, p_only text default null
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_row text := case p_op when 'DELETE' then 'o' else 'n' end;
  v_named jsonb := '{}';
  v_guard text;
  v_new text := 'null';
  v_old text := 'null';
  v_changed text := 'true';
begin
  if p_watch ? 'named' then
    v_named := outbox.named_columns(p_table, p_watch);
    if v_named is null then
      return null;
    end if;
  end if;
  if p_op <> 'DELETE' then
    v_new := outbox.record_value(p_table, 'n', v_named);
  end if;
  if p_op <> 'INSERT' then
    v_old := outbox.record_value(p_table, 'o', v_named);
  end if;
  if p_op = 'UPDATE' and v_named ? 'changed' then
    v_changed := outbox.changed_value(p_table, v_named -> 'changed');
  end if;
  if pg_catalog.current_setting('transaction_isolation') <> 'read committed' then
    v_guard := pg_catalog.format('case when %s then %%s else outbox.refuse_old_snapshot() end',
      pg_catalog.replace(outbox.column_guard(p_table, v_row), '%', '%%'));
    v_new := pg_catalog.format(v_guard, v_new);
    v_old := pg_catalog.format(v_guard, v_old);
  end if;
  return pg_catalog.format('select %s, %s, %s, %s, %s %s where %s', v_new, v_old,
    outbox.text_value(p_table, v_row, v_named -> 'org_column'),
    outbox.text_value(p_table, v_row, v_named -> 'partition_column'),
    v_changed, p_rows, coalesce(p_only, v_changed));
end
$$;
comment on function outbox.watch_query(oid, jsonb, text, text, text) is
  'The query for the changes of a table that are published, with the columns of watched_change. '
  'p_rows: its FROM with the rows n (after) and o (before); p_only: a condition that selects other '
  'rows. Null if the watch is broken. OH004.';
