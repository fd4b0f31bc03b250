-- A step reads only the events of its organisation, of 50,000 of others.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

create temporary table made as select endpoint(p_org_id => 'small') as id;
select outbox.subscribe(id, '{*}') from made;
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(at), case when n % 50 = 0 then 'small' else 'org-' || n % 7 end, 'a.b', '{}', at
from generate_series(1, 50000) n, lateral (select timestamptz '2026-03-01 11:00:00+00' + n * interval '1 ms' as at) t;

create function read_rows() returns bigint language sql as $$
  select sum(coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables s
  where s.schemaname = 'outbox' and s.relname like 'event%'
$$;
create function step_reads() returns bigint language plpgsql as $$
declare
  v_before bigint := helper.read_rows();
begin
  perform outbox.work_backfills(outbox.clock());
  return helper.read_rows() - v_before;
end
$$;
select outbox.backfill_events(id, p_rate_per_second => 50) from made;
update outbox.replay_job set after_xid = '1' where true;
select time_passes('1 s');
select cmp_ok(step_reads(), '<=', 5000::bigint, 'without statistics');
select time_passes('1 s');
select is((select replayed from outbox.replay_job), 50::bigint, 'it sends what its rate allows');
analyze outbox.event;
select cmp_ok(step_reads(), '<=', 5000::bigint, 'with statistics');
select is((select replayed from outbox.replay_job), 100::bigint, 'it goes on');

select * from finish();
rollback;
