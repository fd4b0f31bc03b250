-- The time of a new event. Routing reads events in the order of their ids, which are times of the
-- database clock. If that clock is set back (a step of NTP, or a failover to a server whose clock
-- is behind), a later event would have the smaller id, and an ordered endpoint would get it first.
-- So the time of an event is not below that of an event before it, unless the clock goes back by
-- more than a minute.
--
-- A sequence remembers the time, in microseconds since 1970, because all sessions see a new value
-- at once, without a lock. A slot has 4,096 us. The value is one of two things:
--
--   normal     A multiple of 4,096: the end of a slot. No event has this time or a later one.
--              Within this slot and the one before, a call returns the clock and changes nothing. A
--              later clock sets the value to the end of its slot, at most 244 times a second.
--   set back   No multiple of 4,096: the latest time that was given. Each call takes the next
--              microsecond, until the clock is past the value.
--
-- An example:
--
--   clock    value before   value after   time of the event
--   41,000   40,960         45,056        41,000   a new slot
--   41,100   45,056         45,056        41,100
--   37,000   45,056         45,056        37,000   set back by about 4 ms: not noticed
--   20,000   45,056         45,057        45,057   set back by more than two slots
--   20,100   45,057         45,058        45,058
--   45,100   45,058         49,152        45,100   the clock is past the value: normal again
--
-- A call reads the value and then the clock. So a clock that does not go back is never two slots
-- below the value of a normal call, except after an array of more than 8,000 events, which counts
-- as set back. When a call ends, the value is at least its time, and a later
-- call begins with that value. Calls that overlap may return any of their times, because
-- transactions that overlap have no order. They may meet like this:
--
--   A and B begin a slot. The one with the earlier clock could set the value last, and lower it. So
--   it reads the value again just before. Only if it is interrupted between the two, and the clock
--   goes back before the next event, the time of the other is not kept.
--
--   A finds the clock set back and takes 45,057, while B, with the clock from before, begins a slot
--   and sets 49,152. The next call takes 49,153: above both.
--
--   A finds the clock past 45,058 and sets 49,152, while B found it just behind, and takes 49,153.
--   Calls take the next microsecond until the clock is there, for a few ms.
--
--   If A gets a multiple of 4,096, it takes the next value too, so that no multiple stays. A call
--   that reads between the two takes the value for a normal one, if its clock is at most two slots
--   behind.
--
-- If the clock is more than a minute behind the value, it was wrong before: the value begins again
-- at the clock, and the order across this step is not kept. So no event is dated more than a minute
-- ahead. After a crash the value may be up to 32 us higher, because Postgres logs a sequence in
-- advance. A restored dump has an old value, which the clock is past.

create sequence outbox.event_clock minvalue 0 start 0;

create function outbox.event_time(p_count integer default 1) returns timestamptz
language plpgsql volatile set search_path = ''
as $$
declare
  v_slot constant bigint := 4096;
  v_seen bigint := pg_catalog.pg_sequence_last_value('outbox.event_clock');
  v_at timestamptz := outbox.clock();
  v_us bigint := extract(epoch from v_at) * 1000000;
  v_first bigint;
  v_end bigint;
begin
  if v_us + p_count <= v_seen and v_us >= v_seen - 2 * v_slot and v_seen % v_slot = 0 then
    return v_at;
  end if;
  if v_us >= v_seen - 60000000
    and not (v_us > v_seen or v_us >= v_seen - 2 * v_slot and v_seen % v_slot = 0)
  then
    loop
      v_seen := pg_catalog.nextval('outbox.event_clock');
      v_first := coalesce(v_first, v_seen);
      exit when v_seen - v_first >= p_count - 1 and v_seen % v_slot > 0;
    end loop;
    return v_at + (v_first - v_us) * interval '1 microsecond';
  end if;
  -- The end of the slot that has the last of the times.
  v_end := ((v_us + greatest(p_count, 1) - 1) / v_slot + 1) * v_slot;
  if v_us < v_seen - 60000000
    or coalesce(pg_catalog.pg_sequence_last_value('outbox.event_clock') < v_end, true)
  then
    perform pg_catalog.setval('outbox.event_clock', v_end);
  end if;
  return v_at;
end
$$;
comment on function outbox.event_time(integer) is
  'The time of a new event: the clock, but not before the time of an event that was published '
  'before, by a clock of up to a minute ahead. For p_count events it is the first of as many '
  'microseconds.';

create function outbox.latest_event_time() returns timestamptz
language plpgsql stable set search_path = ''
as $$
declare
  v_seen bigint := pg_catalog.pg_sequence_last_value('outbox.event_clock');
  v_at timestamptz := outbox.clock();
  v_us bigint := extract(epoch from v_at) * 1000000;
begin
  if v_seen % 4096 > 0 and v_us between v_seen - 60000000 and v_seen then
    return v_at + (v_seen - v_us) * interval '1 microsecond';
  end if;
  return v_at;
end
$$;
comment on function outbox.latest_event_time() is
  'The end of a span that has all events up to now: the clock, or the time of the last event while '
  'event_time() finds the clock set back.';
