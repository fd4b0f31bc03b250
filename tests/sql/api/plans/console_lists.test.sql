-- The lists of the console among 1,000 events: see _console_lists.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(144);
\set rows 1000
\ir _console_lists.sql
select * from finish();
rollback;
