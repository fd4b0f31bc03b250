-- A call for many endpoints looks up few rows of each: what is normally not there is asked for once, and what was just
-- read is not read again. Counted in scans of indexes, which a busy machine does not change.
begin;
\ir ../../_helpers.sql
select plan(8);

create function scans(p_index text default '%') returns bigint language sql as $$
  select sum(pg_stat_get_xact_numscans(c.oid))::bigint from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'i' and c.relname like p_index
$$;
create temporary table count (what text, index text, before bigint);
create function begins(p_what text) returns void language sql as $$
  insert into count select p_what, i, scans(i) from unnest(array['%', 'lane_isolated', 'delivery_lane', 'endpoint_secret_endpoint']) i
$$;
create function since(p_what text, p_index text) returns bigint language sql as $$
  select scans(p_index) - c.before from count c where c.what = p_what and c.index = p_index
$$;

do $$ begin perform endpoint(array['t' || n]) from generate_series(1, 40) n; end $$;
do $$ begin perform events(1, 't' || n) from generate_series(1, 40) n; perform step(0); end $$;
create temporary table answer as select '{}'::jsonb as a;
select begins('claim');
update answer set a = step(400) where true;
create temporary table scanned as select i, since('claim', i) as n from unnest(array['%', 'lane_isolated', 'delivery_lane', 'endpoint_secret_endpoint']) i;
select is(claimed(a), 40, 'a call claims one delivery of each of 40 endpoints') from answer;
select cmp_ok(n, '<=', 1::bigint, 'and asks once for isolated lanes, of which there is none') from scanned where i = 'lane_isolated';
select is(n, 40::bigint, 'looks for due rows once in each lane') from scanned where i = 'delivery_lane';
select cmp_ok(n, '<=', 3 * 40::bigint, 'asks at most three times for the secrets of an endpoint') from scanned where i = 'endpoint_secret_endpoint';
select cmp_ok(n, '<=', 26 * 40::bigint, 'and looks up at most 26 rows of each endpoint') from scanned where i = '%';

select time_passes('1 s');
select begins('complete');
create temporary table done as select step(0, results(a, 'delivered')) ->> 'applied' as n from answer;
create temporary table completed as select i, since('complete', i) as n from unnest(array['%', 'lane_isolated']) i;
select is(n, '40', 'a call records 40 results') from done;
select cmp_ok(n, '<=', 1::bigint, 'and asks once for isolated lanes') from completed where i = 'lane_isolated';
select cmp_ok(n, '<=', 13 * 40::bigint, 'and looks up at most 13 rows of each endpoint') from completed where i = '%';
select diag(format('claim %s, complete %s', (select string_agg(i || ' ' || n, ', ') from scanned), (select string_agg(i || ' ' || n, ', ') from completed)));

select * from finish();
rollback;
