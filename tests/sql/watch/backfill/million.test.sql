-- A step of a backfill among 1,000,000 rows: see _reads.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);
\set rows 1000000
\ir _reads.sql
select * from finish();
rollback;
