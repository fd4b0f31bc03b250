-- Indexes on event and attempt that an upgrade adds. A migration is one transaction, so it cannot
-- build an index concurrently, and building it on all days would stop publishers for its time. So
-- the migration creates the index on the parent only, which takes milliseconds. New partitions get
-- it when they are created. The cleanup builds it on the others, one partition in each transaction,
-- and attaches it. It leaves out the partition of the present, because building the index would
-- make its writers wait: its turn comes in the night after its end. The index of the parent is
-- valid when all partitions have it. Until then, queries of a day use the index of this day.

create function outbox.missing_indexes(p_now timestamptz)
returns table (index regclass, part regclass, definition text)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select x.indexrelid::regclass, i.inhrelid::regclass, pg_catalog.pg_get_indexdef(x.indexrelid)
  from pg_catalog.pg_index x
  join pg_catalog.pg_class t on t.oid = x.indrelid
  join pg_catalog.pg_inherits i on i.inhparent = t.oid
  where t.relnamespace = 'outbox'::regnamespace and t.relkind = 'p' and not x.indisvalid
    and not exists (
      select from pg_catalog.pg_inherits a
      join pg_catalog.pg_index o on o.indexrelid = a.inhrelid
      where a.inhparent = x.indexrelid and o.indrelid = i.inhrelid)
    and not exists (
      select from outbox.partitions(t.relname::text) p
      where p.part = i.inhrelid and p.until > p_now and p.since < p_now + interval '1 minute')
  order by x.indexrelid, i.inhrelid;
end
$$;
comment on function outbox.missing_indexes(timestamptz) is
  'The partitions that lack an index of their parent, without that of the present: the index of '
  'the parent, the partition, and the statement that created the index.';

create function outbox.build_index(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set lock_timeout = '500ms'
as $$
declare
  v_next record;
  v_known oid[];
  v_made regclass;
begin
  select m.* into v_next from outbox.missing_indexes(p_now) m limit least(p_limit, 1);
  if not found then
    return 0;
  end if;
  v_known := array(
    select x.indexrelid from pg_catalog.pg_index x where x.indrelid = v_next.part);
  -- Without a name, Postgres chooses the one that a new partition gets.
  execute pg_catalog.regexp_replace(v_next.definition,
    '^(CREATE (?:UNIQUE )?INDEX) \S+ ON ONLY \S+ ',
    pg_catalog.format('\1 ON %s ', v_next.part));
  select x.indexrelid::regclass into v_made from pg_catalog.pg_index x
  where x.indrelid = v_next.part and x.indexrelid <> all (v_known);
  execute pg_catalog.format('alter index %s attach partition %s', v_next.index, v_made);
  return 1;
end
$$;
comment on function outbox.build_index(timestamptz, integer) is
  'Builds the next of missing_indexes() and attaches it to the index of the parent; returns 1, or '
  '0 if none is missing. It waits at most 500 ms for the lock of the partition. A step of the '
  'cleanup.';

insert into outbox.cleanup_step (name, calls, most) values
  ('built_indexes', 'outbox.build_index', 1);
