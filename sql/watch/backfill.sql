-- A backfill of the rows of a table to one endpoint: see operations/backfill_job for what all
-- backfills have in common. Each row is published as if it was inserted now: with the type, the
-- body, the organisation and the partition key that its watch gives it, or those of the arguments
-- if the table is not watched. p_where is a filter on this payload, in the language of endpoints,
-- and not SQL: the tick reads the rows with the rights of the schema's owner, so text of SQL would
-- run code of others with these rights. Only the owner calls backfill(), as watch_table().

create function outbox.estimated_rows(p_table regclass) returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  -- -1: never analyzed.
  return (
    select pg_catalog.sum(c.reltuples)::bigint from pg_catalog.pg_class c
    where c.reltuples >= 0 and c.relkind = 'r' and (c.oid = p_table
      or c.oid in (select t.relid from pg_catalog.pg_partition_tree(p_table) t)));
end
$$;
comment on function outbox.estimated_rows(regclass) is
  'About how many rows a table has, by its statistics; null if there are none.';

create function outbox.source_settings(
  p_table regclass, p_type text, p_columns jsonb, p_is_watched boolean
) returns jsonb
language plpgsql volatile set search_path = ''
as $$
begin
  if p_is_watched then
    if p_type is not null or p_columns <> '{}' then
      perform outbox.invalid('table', pg_catalog.format('%s is watched', p_table),
        'Leave out the type and the columns: those of watch_table() apply');
    end if;
    return null;
  end if;
  return pg_catalog.jsonb_build_object('type', outbox.watched_type(p_table, p_type),
    'columns', p_columns);
end
$$;
comment on function outbox.source_settings(regclass, text, jsonb, boolean) is
  'The settings of backfill_source: null for a watched table. OH001.';

create function outbox.backfill(
  p_table regclass,
  p_endpoint_id uuid,
  p_where text default null,
  p_rate_per_second integer default 50,
  p_type text default null,
  p_org_column text default null,
  p_partition_column text default null,
  p_columns text[] default null,
  p_except text[] default null
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.backfilled_endpoint(p_endpoint_id);
  v_is_watched boolean := exists (
    select from pg_catalog.pg_trigger t
    where t.tgrelid = p_table and t.tgparentid = 0
      and t.tgfoid
        in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure));
  v_source outbox.backfill_source;
  v_watch jsonb;
  v_total bigint;
begin
  perform outbox.check_source(p_table);
  v_source.source := p_table;
  v_source.settings := outbox.source_settings(p_table, p_type,
    outbox.column_lists(p_org_column, p_partition_column, p_columns, p_except), v_is_watched);
  v_watch := outbox.source_watch(v_source);
  if v_watch -> 'columns' = 'null' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('a column that the watch of %s names was dropped', p_table),
      hint = 'Call outbox.watch_table() for it again';
  elsif v_watch ->> 'org_id' <> v_endpoint.org_id then
    perform outbox.invalid('endpoint_id',
      pg_catalog.format('is of the organisation %s', v_endpoint.org_id),
      pg_catalog.format('The changes of %s are of the organisation %s', p_table,
        v_watch ->> 'org_id'));
  end if;
  v_source.key_parts := outbox.key_parts(p_table);
  v_source.is_bounded := false;
  -- The job sets its end when it begins.
  v_source.until_key := outbox.last_key(p_table);
  -- An error of the query is raised here, and not first in the tick.
  perform outbox.read_source(v_source, v_watch, 1);
  v_total := outbox.estimated_rows(p_table);
  v_source.job_id := outbox.new_backfill(v_endpoint, 'rows', null, null, null, p_where,
    p_rate_per_second, v_total);
  insert into outbox.backfill_source select v_source.*;
  return pg_catalog.jsonb_build_object('id', v_source.job_id::text, 'table', p_table::text,
    'watched', v_is_watched, 'total', v_total);
end
$$;
comment on function
  outbox.backfill(regclass, uuid, text, integer, text, text, text, text[], text[]) is
  'Starts a job that sends the rows that the table has to this endpoint, in the order of the '
  'primary key, each once and as if it was inserted: {"id", "table", "watched", "total": about how '
  'many rows}. Of a watched table, type and columns are those of watch_table(); p_type and the '
  'columns after it are for other tables only, with the meaning that they have there. Rows of '
  'another organisation than the endpoint''s are left out. p_where: a filter on the payload. While '
  'the job works on rows, it locks them against changes, and it waits for a row that another '
  'transaction has locked. outbox.replay_job has its progress, set_replay_job() pauses or cancels '
  'it. Call it as the owner of the schema outbox. OH001, OH002, OH004.';
