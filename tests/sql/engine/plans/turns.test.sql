-- Modules: brokers
-- The steps in which organisations take turns, with 50,000 rows of work: an index of three columns has a level more than the primary key then: see _turns.
begin;
set local client_min_messages = error;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir _turns.sql
select plan(42);
select all_calls(50000);
select is(result, should, what || ' does what it was asked for') from came order by n;
select cmp_ok(rows, '<=', most, format('%s reads at most %s rows', what, most)) from came order by n;
select is(scans, null, what || ' scans none of the tables') from came order by n;
select * from finish();
rollback;
