-- A clock that only the test turns: one row at most, and while it is there, outbox.clock() stands at
-- its time.
create table outbox.test_clock (
  only_row boolean primary key default true constraint test_clock_has_one_row check (only_row),
  at timestamptz not null
);
comment on table outbox.test_clock is 'Tests set the time here; empty means the real clock.';
alter table outbox.test_clock enable row level security;

create or replace function outbox.clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$
begin
  return coalesce((select t.at from outbox.test_clock t), pg_catalog.clock_timestamp());
end
$$;
