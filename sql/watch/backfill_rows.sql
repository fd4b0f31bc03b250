-- One step of a backfill of rows. A change of a row and the step may meet. The receiver tells the
-- newer of two events of a row by their ids, or by their order at an ordered endpoint. So:
--
--   1 reads the next rows without a lock, and chooses those to send.
--   2 locks these rows (for share skip locked) and reads them again. From now on nobody changes
--     them until the step ends. Only now the events get their ids.
--   3 stops before the first row that another transaction has locked: it may have changed it, and
--     its event would be older than that of the step. The next step begins with this row.
--   4 stores the events. At an unordered endpoint it creates the deliveries at once, in the lane of
--     the job. At an ordered endpoint the events are routed as all others, which keeps the order.
--
-- An example: a transaction has updated row 7 and not committed. Its event has an id of then. The
-- step sends rows 5 and 6, and stops. After the commit, the next step reads the new row 7. Its
-- event has a higher id, and the same content as the update.

create function outbox.ready_source(
  p_job outbox.replay_job, p_now timestamptz
) returns outbox.backfill_source
language plpgsql volatile set search_path = ''
as $$
declare
  v_source outbox.backfill_source;
begin
  select * into v_source from outbox.backfill_source s where s.job_id = p_job.id;
  if not exists (select from pg_catalog.pg_class c where c.oid = v_source.source) then
    update outbox.replay_job j set status = 'cancelled', finished_at = p_now
    where j.id = p_job.id;
    perform outbox.refuse_upkeep('outbox.backfill',
      pg_catalog.format('rows of replay job %s', p_job.id), 'OH004',
      'the table was dropped, so the job is cancelled', '1 hour');
    return null;
  end if;
  -- Again, because its owner may have changed.
  perform outbox.check_source(v_source.source);
  if outbox.key_parts(v_source.source) is distinct from v_source.key_parts then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the primary key of %s has changed', v_source.source),
      hint = 'Cancel the job, and start another one';
  end if;
  if not v_source.is_bounded then
    v_source.is_bounded := true;
    v_source.until_key := outbox.last_key(v_source.source);
    update outbox.backfill_source s set is_bounded = true, until_key = v_source.until_key
    where s.job_id = p_job.id;
  end if;
  return v_source;
end
$$;
comment on function outbox.ready_source(outbox.replay_job, timestamptz) is
  'The source of a backfill for its next step; in the first step its end is set. Null if the table '
  'was dropped: then the job is cancelled. OH001, OH004.';

create function outbox.most_rows(
  p_job outbox.replay_job, p_most integer, p_is_selected boolean
) returns integer
language plpgsql stable set search_path = ''
as $$
declare
  -- More, if some may not be wanted.
  v_limit integer := case when p_is_selected then 1000 else p_most end;
begin
  -- Fewer after each failure: the step may need too much memory or time.
  return greatest(1, v_limit >> least(10, coalesce(
    (
      select r.failures from outbox.upkeep_refusal r
      where r.task = 'outbox.work_backfills' and r.member = 'replay job ' || p_job.id
    ), 0))::integer);
end
$$;
comment on function outbox.most_rows(outbox.replay_job, integer, boolean) is
  'How many rows a step reads at most. p_is_selected: a filter or a column may leave out some.';

create or replace function outbox.backfill_rows(
  p_job outbox.replay_job, p_most integer, p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
declare
  v_ordered boolean := (
    select e.ordering <> 'none' from outbox.endpoint e where e.id = p_job.endpoint_id);
  v_filter outbox.filter := outbox.job_filter(p_job);
  v_source outbox.backfill_source;
  v_watch jsonb;
  v_name text[];
  v_limit integer;
  v_end text;
  v_rows outbox.source_row[];
  v_keys text[];
  v_locked outbox.source_row[];
  v_busy outbox.source_row[];
  v_row outbox.source_row;
  v_place integer;
  v_upto integer;
  v_at timestamptz;
  v_event outbox.event;
  v_problem text;
  v_last text;
  v_events uuid[] := array[]::uuid[];
  v_pairs outbox.pair[] := array[]::outbox.pair[];
  v_sent integer;
  v_skipped integer := 0;
begin
  -- At an ordered endpoint, backfill_room() does not count events that are not routed yet.
  if v_ordered and exists (select from outbox.unrouted u where u.event_id = p_job.at_id) then
    perform outbox.wait_for(p_job.id, 'the routing of earlier events');
    return v_events;
  end if;
  v_source := outbox.ready_source(p_job, p_now);
  if v_source.job_id is null then
    return v_events;
  end if;
  v_watch := outbox.source_watch(v_source);
  if v_watch -> 'columns' = 'null' then
    perform outbox.invalid('table', 'has lost a column that its watch names',
      'Call watch_table() for it again');
  end if;
  v_name := (pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::regclass,
    v_source.source, 0)).object_names;
  if v_source.busy_key is not null then
    perform outbox.wait_for_row(v_source, v_watch);
  end if;
  v_limit := outbox.most_rows(p_job, p_most,
    v_filter.path is not null or v_watch -> 'columns' ? 'org_column');
  -- With a filter 1 MB, because the work of a step is limited to about as much.
  v_rows := outbox.read_source(v_source, v_watch, v_limit,
    p_most_bytes => case when v_filter.path is null then 8388608 else 1048576 end);
  if pg_catalog.cardinality(v_rows) = 0 then
    perform outbox.move_backfill(p_job, 0, 0, 0, null, true, p_now);
    return v_events;
  end if;
  v_keys := outbox.wanted_keys(p_job, v_filter, v_watch, v_name, v_rows, p_most);
  v_upto := pg_catalog.cardinality(v_keys);
  -- The two reads that follow end where this one ends.
  v_end := v_source.until_key;
  v_source.until_key := (v_rows[v_upto]).key;
  v_locked := outbox.lock_source(v_source, v_watch, v_limit,
    pg_catalog.array_remove(v_keys, null));
  v_busy := outbox.read_source(v_source, v_watch, 1, array(
    select k from pg_catalog.unnest(v_keys) k
    where k is not null
      and k not in (select l.key from pg_catalog.unnest(v_locked) l)));
  if pg_catalog.cardinality(v_busy) > 0 then
    v_upto := pg_catalog.array_position(v_keys, (v_busy[1]).key) - 1;
    if v_upto = 0 then
      perform outbox.wait_for(p_job.id, 'a row that another transaction has locked');
    end if;
  end if;
  -- After the locks: later than the event of any change that the rows have.
  v_at := outbox.event_time(pg_catalog.cardinality(v_locked) + 1);
  foreach v_row in array v_locked loop
    v_place := pg_catalog.array_position(v_keys, v_row.key);
    exit when v_place > v_upto;
    v_at := v_at + interval '1 microsecond';
    v_event := outbox.row_event(p_job, v_watch, v_name, v_row, v_at);
    v_problem := outbox.row_problem(p_job, v_filter, v_row, v_event);
    continue when v_problem = '';
    if v_problem is null then
      v_problem := outbox.put_row(p_job, v_event, v_ordered, p_job.looked + v_place);
      if v_problem = '' then
        v_upto := v_place - 1;
        exit;
      end if;
    end if;
    if v_problem is not null then
      v_skipped := v_skipped + 1;
      -- By its number, because a key may be a phone number.
      v_last := pg_catalog.format('row %s: %s', p_job.looked + v_place, v_problem);
      continue;
    end if;
    v_events := v_events || v_event.id;
    v_pairs := v_pairs || row(v_event.id, p_job.endpoint_id, null, null, p_job.id,
      pg_catalog.octet_length(v_event.body), false)::outbox.pair;
  end loop;
  perform outbox.note_skipped(p_job.id, v_skipped, v_last);
  v_sent := pg_catalog.cardinality(v_pairs);
  if not v_ordered then
    perform outbox.count_up('events', array['routed'], v_sent);
    v_sent := outbox.add_backfilled(p_job, v_pairs, p_now);
    v_skipped := v_skipped + pg_catalog.cardinality(v_pairs) - v_sent;
  end if;
  update outbox.backfill_source s set
    at_key = case when v_upto > 0 then (v_rows[v_upto]).key else s.at_key end,
    busy_key = (v_busy[1]).key
  where s.job_id = p_job.id;
  perform outbox.move_backfill(p_job, v_upto, v_sent, v_skipped,
    v_events[pg_catalog.cardinality(v_events)],
    v_upto > 0 and (v_rows[v_upto]).key = v_end, p_now);
  return v_events;
end
$$;
comment on function outbox.backfill_rows(outbox.replay_job, integer, timestamptz) is
  'Extension point of work_backfill(): sends the next rows of a table. locks: the caller holds the '
  'gate; rows of the table with SKIP LOCKED, or busy_key for 0.1 s.';
