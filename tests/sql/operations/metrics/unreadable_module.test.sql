-- An error in the metrics of a module hides no other metric.
begin;
\ir ../../_helpers.sql
select plan(4);

select is(outbox.get_metrics() -> 'gauges' @> '[["modules_unreadable", [], 0]]', true, 'the metrics of modules can be read');
create or replace function outbox.more_gauges() returns table (metric text, labels text[], value double precision)
language plpgsql stable set search_path = '' as $$ begin raise exception 'no'; end $$;
select is(outbox.get_metrics() -> 'gauges' -> 0, '["modules_unreadable", [], 1]', 'an error in a gauge is shown as a gauge');
create or replace function outbox.more_gauges() returns table (metric text, labels text[], value double precision)
language plpgsql stable set search_path = '' as $$ begin return; end $$;
create or replace function outbox.more_counters() returns table (metric text, labels text[], n bigint, total bigint)
language plpgsql stable set search_path = '' as $$ begin raise exception 'no'; end $$;
select is(outbox.get_metrics() -> 'gauges' -> 0, '["modules_unreadable", [], 1]', 'so is an error in a counter');
select ok(outbox.get_metrics() ?& array['queue', 'counters'], 'all other metrics are there');

select * from finish();
rollback;
