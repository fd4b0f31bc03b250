-- The lists of the console among 12,000 events: see _console_lists.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(192);
-- More than most lists read.
\set rows 12000
\ir _console_lists.sql
select * from finish();
rollback;
