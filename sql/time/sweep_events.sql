-- The sweep: an event that is open keeps only itself, not the delivered events of its day. A day
-- with nothing open is dropped as a whole (time/drop_partition). Of an older day that has something
-- open, this step of the cleanup deletes the events that nothing needs, row by row: once a night,
-- in pieces, from the oldest day on. cleanup_progress stores the last event that it looked at, so
-- that the next piece continues, also in the next night.
--
-- A replay and the sweep may meet at an event. The sweep locks the row, and then looks again with a
-- new snapshot. reopen_delivery() locks the row before it creates the delivery. So either the sweep
-- leaves the event out, or the replay waits and then finds no event.

create function outbox.is_event_needed(p_event_id uuid, p_since timestamptz) returns boolean
-- Stable: all lookups have one snapshot. With one snapshot each, routing could commit between two
-- of them, and neither would see the event.
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  -- One statement each, so that the later ones are not even started.
  if exists (select from outbox.delivery d where d.event_id = p_event_id) then
    return true;
  end if;
  if exists (
    select from outbox.attempt a where a.event_id = p_event_id and a.at >= p_since
  ) then
    return true;
  end if;
  return exists (select from outbox.unrouted u where u.event_id = p_event_id)
    or exists (select from outbox.unroutable u where u.event_id = p_event_id)
    or exists (select from outbox.refusal r where r.event_id = p_event_id);
end
$$;
comment on function outbox.is_event_needed(uuid, timestamptz) is
  'Whether an event is open or not routed, or had an attempt since p_since.';

create function outbox.sweep_piece(
  p_part regclass, p_after uuid, p_limit integer, p_now timestamptz
) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_since constant timestamptz := outbox.stored_since();
  v_ids uuid[];
  v_rows tid[];
begin
  execute pg_catalog.format(
    'select array(select v.id from %s v where v.id > $1 order by v.id limit $2)', p_part)
  into v_ids using p_after, p_limit;
  execute pg_catalog.format(
    'select array(select v.ctid from %s v where v.id = any ($1) '
      'and not outbox.is_event_needed(v.id, $2) for update skip locked)', p_part)
  into v_rows using v_ids, v_since;
  -- Again, because an event may have been replayed before it was locked.
  perform outbox.change_rows('outbox.sweep_events', p_part,
    pg_catalog.format('delete from %s v where v.ctid = any ($1) '
      'and not outbox.is_event_needed(v.id, %L)', p_part, v_since),
    v_rows, p_now);
  return v_ids;
end
$$;
comment on function outbox.sweep_piece(regclass, uuid, integer, timestamptz) is
  'Looks at up to p_limit events of a partition after p_after, and deletes those that are not '
  'needed (is_event_needed()). Returns those that it looked at. An event that another transaction '
  'has locked is left for the next night.';

create function outbox.sweep_events(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_from constant uuid := (
    select p.swept_to from outbox.cleanup_progress p where p.name = 'swept_events');
  v_to uuid := coalesce(v_from, v_start);
  v_part record;
  v_ids uuid[];
  v_looked integer := 0;
begin
  -- Before a restore has loaded the deliveries, each event looks finished.
  perform outbox.refuse_restoring(outbox.unrestored_table());
  for v_part in
    select p.* from outbox.partitions('event') p
    where p.until <= outbox.stored_since() and outbox.uuid_v7_floor(p.until) > v_to
  loop
    -- A day with nothing open is dropped soon, as a whole.
    if outbox.is_open_between(v_part.since, v_part.until) then
      v_ids := outbox.sweep_piece(v_part.part, v_to, p_limit - v_looked, p_now);
      v_looked := v_looked + pg_catalog.cardinality(v_ids);
      if v_looked >= p_limit then
        v_to := v_ids[pg_catalog.cardinality(v_ids)];
        exit;
      end if;
    end if;
    v_to := outbox.uuid_v7_floor(v_part.until);
  end loop;
  -- The next night begins with the oldest day again.
  v_to := case when v_looked >= p_limit then v_to end;
  if v_to is distinct from v_from then
    insert into outbox.cleanup_progress as p (name, swept_to) values ('swept_events', v_to)
    on conflict (name) do update set swept_to = excluded.swept_to
    -- Another call may have continued meanwhile.
    where p.swept_to is not distinct from v_from;
  end if;
  return v_looked;
end
$$;
comment on function outbox.sweep_events(timestamptz, integer) is
  'Looks at the next p_limit events of days that are older than stored_since() and have something '
  'open, and deletes those that are not needed. Returns how many it looked at. locks: events with '
  'SKIP LOCKED.';

insert into outbox.cleanup_step (name, calls) values ('swept_events', 'outbox.sweep_events');
