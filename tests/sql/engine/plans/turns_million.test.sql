-- Modules: api, brokers
-- The same as turns.test.sql with a million rows of work, 2,000 organisations and 20,000 endpoints. One organisation has half
-- of everything. Takes about a minute.
begin;
set local client_min_messages = error;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\set places 20000
\set firsts 10000
\set orgs 2000
\set deliveries 300000
\set unrouted 150000
\set unroutables 100000
\set refusals 100000
\set letters 300000
\set purged 50000
\ir _turns.sql
select plan(72);
\ir _turns_calls.sql
select is(result, should, what || ' does what it was asked for') from came order by n;
select cmp_ok(rows, '<=', most, format('%s reads at most %s rows', what, most)) from came order by n;
select is(scans, null, what || ' scans none of the tables') from came order by n;
select * from finish();
rollback;
