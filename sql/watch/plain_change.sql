-- Changes of tables that have only types of Postgres. No role can define a cast of such a type to
-- json, so row_to_json() runs no code of the application, and no query has to be built.

create function outbox.has_root_order(p_table oid) returns boolean
language plpgsql volatile set search_path = ''
as $$
begin
  return not exists (
    select
    from (
      select pg_catalog.row_number() over (order by a.attnum) as place, a.attname
      from pg_catalog.pg_attribute a
      where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    ) a
    left join (
      select pg_catalog.row_number() over (order by a.attnum) as place, a.attname
      from pg_catalog.pg_attribute a
      where a.attrelid = pg_catalog.pg_partition_root(p_table) and a.attnum > 0
        and not a.attisdropped
    ) r using (place, attname)
    where r.place is null);
end
$$;
comment on function outbox.has_root_order(oid) is
  'Whether a partition has the columns in the order of its partitioned table. Otherwise '
  'row_to_json() would write the same row in another way in each partition.';

create function outbox.pick_columns(p_row json, p_named jsonb) returns json
language plpgsql immutable set search_path = ''
as $$
begin
  if p_row is null or not p_named ?| '{columns,except}' then
    return p_row;
  end if;
  return (
    select pg_catalog.concat('{', pg_catalog.string_agg(
      pg_catalog.concat(pg_catalog.to_json(e.key), ':', e.value), ',' order by e.ordinality),
      '}')::json
    from pg_catalog.json_each(p_row) with ordinality e
    where coalesce(p_named -> 'columns' ? e.key, not p_named -> 'except' ? e.key));
end
$$;
comment on function outbox.pick_columns(json, jsonb) is
  'The published columns of a row; null if there is no row.';

create function outbox.plain_change(
  p_new json, p_old json, p_named jsonb
) returns outbox.watched_change
language plpgsql immutable set search_path = ''
as $$
declare
  v_row json := coalesce(p_new, p_old);
  v_changed boolean := p_new is null or p_old is null or not p_named ? 'changed';
  v_column text;
begin
  for v_place in 1 .. coalesce(pg_catalog.jsonb_array_length(p_named -> 'changed'), 0) loop
    exit when v_changed;
    v_column := p_named -> 'changed' ->> (v_place - 1);
    v_changed := p_new ->> v_column is distinct from p_old ->> v_column;
  end loop;
  if not v_changed then
    return row(null, null, null, null, false)::outbox.watched_change;
  end if;
  return row(outbox.pick_columns(p_new, p_named), outbox.pick_columns(p_old, p_named),
    v_row ->> (p_named -> 'org_column' ->> 0), v_row ->> (p_named -> 'partition_column' ->> 0),
    true)::outbox.watched_change;
end
$$;
comment on function outbox.plain_change(json, json, jsonb) is
  'The change of a row from its JSON after and before. p_named: the result of named_columns().';
