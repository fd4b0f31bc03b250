-- Indexes on event and attempt that an upgrade adds. A migration is one transaction, so it cannot
-- build an index concurrently, and building it on all days would stop publishers for its time. So
-- the migration creates the index on the parent only, which takes milliseconds. New partitions get
-- it when they are created. The cleanup builds it on the others, one partition in each transaction,
-- the latest first, and attaches it. The index of the parent is valid when all partitions have it.
-- Until then, queries of a day use the index of this day.
--
-- Building an index makes writers of the partition wait, and drop_partitions() too. So a partition
-- that is written, or that is about to be dropped, is left out (is_closed_part()). If one cannot be
-- built, such as one that takes longer than the statement timeout, the others are built, and
-- upkeep_refusal has the error until the next night. An equal index that somebody has created
-- concurrently on the partition is attached instead (runbook: Periodic work).

create function outbox.is_closed_part(p_table text, p_part regclass, p_now timestamptz)
returns boolean
language plpgsql stable set search_path = ''
as $$
declare
  v_midnight timestamptz := (p_now at time zone 'UTC')::date::timestamp at time zone 'UTC';
  v_part record;
begin
  select p.since, p.until into v_part from outbox.partitions(p_table) p where p.part = p_part;
  if not found then
    -- The default partition is written while the present has no other.
    return exists (
      select from outbox.partitions(p_table) p where p.since <= p_now and p.until > p_now);
  end if;
  -- A transaction that began before its end may still write to it. Nobody writes to the future.
  if v_part.until > p_now - interval '1 hour' and v_part.since < p_now + interval '1 hour' then
    return false;
  end if;
  if p_table = 'attempt' then
    return v_part.until > v_midnight
      - pg_catalog.make_interval(days => outbox.setting_int('attempt.retention_days'));
  end if;
  return v_part.until > v_midnight
      - pg_catalog.make_interval(days => outbox.setting_int('event.delivered_days'))
    or outbox.is_open_between(v_part.since, v_part.until);
end
$$;
comment on function outbox.is_closed_part(text, regclass, timestamptz) is
  'Whether nobody writes to a partition of event or attempt, and drop_partitions() does not drop '
  'it tonight.';

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
  left join lateral (
    select p.since from outbox.partitions(t.relname::text) p where p.part = i.inhrelid
  ) p on true
  where t.relnamespace = 'outbox'::regnamespace and t.relkind = 'p' and not x.indisvalid
    and not exists (
      select from pg_catalog.pg_inherits a
      join pg_catalog.pg_index o on o.indexrelid = a.inhrelid
      where a.inhparent = x.indexrelid and o.indrelid = i.inhrelid)
    and outbox.is_closed_part(t.relname::text, i.inhrelid, p_now)
  order by p.since desc nulls last, x.indexrelid, i.inhrelid;
end
$$;
comment on function outbox.missing_indexes(timestamptz) is
  'The partitions that lack an index of their parent, of those that is_closed_part() allows, the '
  'latest first: the index of the parent, the partition, and the statement that created the index.';

create function outbox.same_index(p_part regclass, p_definition text) returns regclass
language sql stable set search_path = ''
as $$
  select x.indexrelid::regclass
  from pg_catalog.pg_index x
  where x.indrelid = p_part and x.indisvalid
    and not exists (select from pg_catalog.pg_inherits a where a.inhrelid = x.indexrelid)
    -- Without the names of the index and of the table.
    and pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(x.indexrelid),
        '^(CREATE (?:UNIQUE )?INDEX) \S+ ON \S+ ', '\1 ')
      = pg_catalog.regexp_replace(p_definition,
        '^(CREATE (?:UNIQUE )?INDEX) \S+ ON ONLY \S+ ', '\1 ')
  order by x.indexrelid
  limit 1
$$;
comment on function outbox.same_index(regclass, text) is
  'A valid index of a partition that is equal to one of the parent, by its definition, and not '
  'attached; null if there is none.';

create function outbox.build_one_index(p_index regclass, p_part regclass, p_definition text)
returns void
language plpgsql
set search_path = ''
set lock_timeout = '500ms'
as $$
begin
  if outbox.same_index(p_part, p_definition) is null then
    -- Without a name, Postgres chooses the one that a new partition gets.
    execute pg_catalog.regexp_replace(p_definition,
      '^(CREATE (?:UNIQUE )?INDEX) \S+ ON ONLY \S+ ', pg_catalog.format('\1 ON %s ', p_part));
  end if;
  execute pg_catalog.format('alter index %s attach partition %s',
    p_index, outbox.same_index(p_part, p_definition));
end
$$;
comment on function outbox.build_one_index(regclass, regclass, text) is
  'Builds an index on a partition, unless it has an equal one, and attaches it to the index of the '
  'parent. Waits at most 500 ms for a lock.';

create function outbox.build_index(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set lock_timeout = '500ms'
as $$
declare
  -- Not the name of this function: the cleanup deletes refusals of the functions that it calls.
  v_task constant text := 'outbox.build_one_index';
  v_next record;
begin
  -- cleanup() may be called beside the job, and both would build the same index.
  perform from outbox.cleanup_step s where s.calls = 'outbox.build_index'
  for no key update skip locked;
  if not found then
    return 0;
  end if;
  select m.* into v_next from outbox.missing_indexes(p_now) m
  where not exists (
    select from outbox.upkeep_refusal r
    where r.task = v_task and r.member = m.part::text and r.at > p_now - interval '20 hours')
  limit least(p_limit, 1);
  if not found then
    return 0;
  end if;
  begin
    perform outbox.build_one_index(v_next.index, v_next.part, v_next.definition);
    perform outbox.admit_upkeep(v_task, v_next.part::text);
  exception when query_canceled or assert_failure or others then
    perform outbox.refuse_upkeep(v_task, v_next.part::text, sqlstate, sqlerrm, '25 hours');
  end;
  return 1;
end
$$;
comment on function outbox.build_index(timestamptz, integer) is
  'Builds the next of missing_indexes() (build_one_index()). One that fails is left out for 20 '
  'hours. Returns 1, or 0 if none is left. A step of the cleanup. locks: its row of cleanup_step '
  'with SKIP LOCKED.';

insert into outbox.cleanup_step (name, calls, most, is_last) values
  ('built_indexes', 'outbox.build_index', 1, true);
