-- A clock that only the simulation turns. A sequence, because its value has no dead versions, and all
-- sessions see it at once. The unit is a microsecond since 1970.
create sequence outbox.simulated_time minvalue 0 start 0;

create or replace function outbox.clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$
begin
  return pg_catalog.to_timestamp((select s.last_value from outbox.simulated_time s) / 1e6);
end
$$;

-- Turns the clock to the next time at which an endpoint is due, rounded up to the grain, and at most to p_latest.
-- Returns the new time. All three are in ms since 1970.
create function outbox.turn_clock(p_grain bigint, p_latest bigint) returns float8
language plpgsql volatile set search_path = ''
as $$
declare
  v_due timestamptz := (
    select min(g.next_at) from outbox.gate g
    where g.next_at > outbox.clock() and g.next_at < 'infinity');
  v_next bigint := least(p_latest,
    ceil(extract(epoch from v_due) * 1000 / p_grain)::bigint * p_grain);
begin
  perform pg_catalog.setval('outbox.simulated_time', v_next * 1000);
  return v_next;
end
$$;
