-- A step reads only its rows, of a table with :rows, with and without statistics. The including file sets rows, and plans
-- the tests.
set local search_path = helper, extensions;

create schema shop;
create table shop.big (org text, id bigint, note text default 'x', primary key (org, id));
insert into shop.big (org, id) select 'org-' || n % 10, n from generate_series(1, :rows) n;
create temporary table middle as select :rows / 2 + 5 as id;
create temporary table made as select endpoint() as id;

create function read_rows() returns bigint language sql as $$
  select coalesce(sum(s.seq_tup_read + s.idx_tup_fetch), 0)::bigint from pg_stat_xact_user_tables s where s.relid = 'shop.big'::regclass
$$;
-- The rows that one step reads, from the middle of the table on.
create function step_reads(p_where text) returns bigint language plpgsql as $$
declare
  v_before bigint;
begin
  perform outbox.backfill('shop.big', (select id from made), p_where, p_rate_per_second => 100);
  update outbox.replay_job set after_xid = '1', worked_at = worked_at - interval '1 s' where status = 'running';
  update outbox.backfill_source set at_key = (select jsonb_build_array('org-5', m.id::text) from middle m) where true;
  v_before := helper.read_rows();
  perform outbox.work_backfills(outbox.clock());
  return helper.read_rows() - v_before;
end
$$;
create function last_job() returns outbox.replay_job language sql stable as $$
  select j from outbox.replay_job j order by j.id desc limit 1
$$;

select cmp_ok(step_reads(null), '<=', 500::bigint, 'without statistics a step reads its 100 rows alone');
select is((last_job()).replayed, 100::bigint, 'and sends them');
update outbox.replay_job set status = 'cancelled' where true;
analyze shop.big;
select cmp_ok(step_reads(null), '<=', 500::bigint, 'with statistics too');
select is((last_job()).replayed, 100::bigint, 'and sends them');
update outbox.replay_job set status = 'cancelled' where true;
select cmp_ok(step_reads('$.record.note == "y"'), '<=', 5000::bigint, 'a filter that passes no row reads 1,000');
select is((last_job()).looked, 1000::bigint, 'and goes on');
