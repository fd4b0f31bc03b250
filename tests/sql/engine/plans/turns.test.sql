-- Modules: api, brokers
-- The steps in which organisations take turns or have a limit, with 20,000 to 50,000 rows of each kind of work: see _turns. At
-- 50,000, an index of three columns has a level more than the primary key.
begin;
set local client_min_messages = error;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\set places 1000
\set firsts 1
\set orgs 1000
\set deliveries 20000
\set unrouted 50000
\set unroutables 50000
\set refusals 50000
\set letters 20000
\set purged 20000
\ir _turns.sql
select plan(72);
\ir _turns_calls.sql
select is(result, should, what || ' does what it was asked for') from came order by n;
select cmp_ok(rows, '<=', most, format('%s reads at most %s rows', what, most)) from came order by n;
select is(scans, null, what || ' scans none of the tables') from came order by n;
select * from finish();
rollback;
