-- The same as refusals with 1,000,000 refusals. Takes about a minute.
begin;
-- A million rows take longer than any other statement of the tests.
set local statement_timeout = '5min';
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
\ir _refusals.sql
select plan(10);

-- What a drained table leaves: pages without a row, from which the planner concludes one row.
select add(1, 1000);
delete from outbox.refusal where true;
analyze outbox.refusal;
select add(1, 1000000);
select calls('stale statistics');
analyze outbox.refusal;
select calls('fresh statistics');
select is(result, should, what || ' does what it was asked for') from came where should is not null order by n;
select cmp_ok(rows, '<=', most, format('%s reads at most %s refusals', what, most)) from came order by n;

select * from finish();
rollback;
