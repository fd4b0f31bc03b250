-- The same lists of the console among 1,000,000 events: see _console_lists. Takes about two minutes.
begin;
-- A million rows take longer than any other statement of the tests.
set local statement_timeout = '5min';
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(192);
\set rows 1000000
\ir _console_lists.sql
select * from finish();
rollback;
