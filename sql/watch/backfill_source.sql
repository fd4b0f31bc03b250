-- The rows of a table that a backfill reads: which table, and how its rows are published.
-- backfill_key has their order, backfill_query the query.

create table outbox.backfill_source (
  job_id bigint primary key references outbox.replay_job (id) on delete cascade,
  source regclass not null,
  settings jsonb,
  key_parts text[] not null,
  at_key text,
  until_key text,
  is_bounded boolean not null default false,
  busy_key text
);
comment on table outbox.backfill_source is
  'The table of a backfill with the source rows. settings: the type and the lists of columns, of a '
  'table that is not watched; null: those of its watch. key_parts: the columns of the primary key '
  'at the start, see key_parts(). at_key: the key of the last row that was handled; until_key: if '
  'is_bounded, the last key when the job began, null if there was no row; busy_key: the row before '
  'which the last step stopped, because another transaction had locked it. A key is a JSON array '
  'of texts.';

create type outbox.source_row as (
  key text,
  record json,
  org_id text,
  partition_key text
);
comment on type outbox.source_row is
  'One row that a backfill reads: its primary key, the published columns, and the organisation and '
  'the partition key that its columns have.';

create function outbox.source_watch(p_source outbox.backfill_source) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_watch jsonb := p_source.settings;
begin
  if v_watch is not null then
    perform outbox.check_lists(p_source.source, v_watch -> 'columns');
    return v_watch;
  end if;
  select outbox.watch_of(t.tgargs) into v_watch
  from pg_catalog.pg_trigger t
  where t.tgrelid = p_source.source and t.tgparentid = 0
    and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
  limit 1;
  if v_watch is not null then
    return v_watch || pg_catalog.jsonb_build_object('columns',
      outbox.named_columns(p_source.source, v_watch));
  end if;
  raise exception using errcode = 'OH004',
    message = pg_catalog.format('%s is not watched', p_source.source),
    hint = 'Call watch_table() again, or cancel the job';
end
$$;
comment on function outbox.source_watch(outbox.backfill_source) is
  'How rows of the table are published: {"type", "org_id" (null: of the column), "columns": as '
  'named_columns(), null if its watch is broken}. OH001: a column is missing; OH004: the table is '
  'not watched any more.';
