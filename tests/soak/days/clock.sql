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
