-- The bounds of one step of a backfill of rows, and the rows that it skips.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(28);

create schema shop;
create table shop.things (id integer primary key, note text, price integer);
create temporary table made as select endpoint('{no.such}') as target, endpoint('{no.such}', 'partition') as sorted;

create function job() returns outbox.replay_job language sql stable as $$
  select j from outbox.replay_job j order by j.id desc limit 1
$$;
create function progress() returns text language sql stable as $$
  select format('%s: %s sent, %s skipped, %s looked at', (j.job).status, (j.job).replayed, (j.job).skipped, (j.job).looked)
  from (select job() as job) j
$$;
create function begun() returns void language sql as $$
  update outbox.replay_job set after_xid = '1', worked_at = worked_at - interval '1 s' where id = (job()).id
$$;
create function work(p_times integer default 1) returns void language plpgsql as $$
begin
  for v_n in 1 .. p_times loop
    while outbox.work_backfills(outbox.clock()) loop end loop;
    perform helper.time_passes('1 s');
  end loop;
end
$$;
create function ended() returns void language sql as $$ select outbox.set_replay_job((job()).id::text, 'cancelled') $$;
create function refused() returns text language sql stable as $$
  select error from outbox.upkeep_refusal where task = 'outbox.backfill' and member = 'rows of replay job ' || (job()).id
$$;
create function failed() returns text language sql stable as $$
  select error from outbox.upkeep_refusal where task = 'outbox.work_backfills' and member = 'replay job ' || (job()).id
$$;
create function rows_read() returns bigint language sql as $$
  select coalesce(sum(s.seq_tup_read + s.idx_tup_fetch), 0)::bigint from pg_stat_xact_user_tables s where s.relid = 'shop.things'::regclass
$$;

-- The end is that of the begin.
insert into shop.things select n, 'x', 1 from generate_series(1, 10) n;
select outbox.backfill('shop.things', target, p_rate_per_second => 5) from made;
insert into shop.things values (11, 'late', 1);
select begun(), work();
select is((select until_key from outbox.backfill_source where job_id = (job()).id), '["11"]', 'a row that was committed before the job began is before its end');
insert into shop.things select n, 'later', 1 from generate_series(12, 1000) n;
select work(2);
select is(progress(), 'done: 11 sent, 0 skipped, 11 looked at', 'and is sent; a later one is not');

-- The rows end where a step does, and the last one was deleted meanwhile.
delete from shop.things where id > 11;
select outbox.backfill('shop.things', target, p_rate_per_second => 5) from made;
select begun(), work(2);
select is((job()).looked, 10::bigint, 'ten of eleven rows');
delete from shop.things where id = 11;
insert into shop.things select n, 'later', 1 from generate_series(12, 3000) n;
create temporary table before as select rows_read() as n;
select work();
select is(progress(), 'done: 10 sent, 0 skipped, 10 looked at', 'a step without a row ends the job');
select cmp_ok(rows_read() - n, '<=', 20::bigint, 'and reads no row behind the end') from before;
select is(outbox.key_bound('{id}', '<=', null), 'false', 'without an end no row is before it');

-- Bytes.
truncate shop.things;
alter table shop.things alter column note set storage external;
insert into shop.things select n, repeat('x', 1000000), 1 from generate_series(1, 30) n;
select outbox.backfill('shop.things', target, p_rate_per_second => 1000) from made;
select begun(), work();
select is((job()).looked, 9::bigint, 'a step reads 8 MB of rows');
select is((job()).skipped, 9::bigint, 'and skips those that are larger than a payload');
select matches(refused(), '^9 rows of one step, the last: row 9: OH001 .*payload', 'which are one object of the upkeep');
select is((select count(*) from outbox.upkeep_refusal where task = 'outbox.backfill'), 1::bigint, 'for the whole job');
select ended();
select is((select cardinality(outbox.read_source(s, outbox.source_watch(s), 1000, p_most_bytes => 1048576)) from outbox.backfill_source s where s.job_id = (job()).id), 2, 'a read ends when it has its bytes');
truncate shop.things;
insert into shop.things values (1, repeat('x', 9000000), 1), (2, 'x', 1);
select outbox.backfill('shop.things', target) from made;
select begun(), work();
select is(progress(), 'done: 1 sent, 1 skipped, 2 looked at', 'a row above 8 MiB is skipped');
select matches(refused(), 'the row has more than 8388608 bytes', 'and is not read');

-- Fewer rows after a failure.
select outbox.backfill('shop.things', target) from made;
select is(outbox.most_rows(job(), 50, true), 1000, 'a step with a filter reads 1,000 rows');
select outbox.refuse_upkeep('outbox.work_backfills', 'replay job ' || (job()).id, '53200', 'out of memory', '5 minutes') from generate_series(1, 2);
select is(outbox.most_rows(job(), 50, true), 250, 'half as many after each failure');
select is(outbox.most_rows(job(), 2, false), 1, 'and at least one');
select ended();

-- A filter that fails.
truncate shop.things;
alter table shop.things add more json;
insert into shop.things values (1, 'x', 1, null), (2, 'x', 2, '"\u0000"'), (3, 'x', 2, null);
select outbox.backfill('shop.things', target, '$.record.price == 2') from made;
select begun(), work();
select is(progress(), 'done: 1 sent, 1 skipped, 3 looked at', 'a row whose filter fails is skipped');
select matches(refused(), '^1 rows of one step, the last: row 2: filter: ', 'and is named');

-- Bytes of the day.
delete from shop.things where id = 2;
select outbox.set_org_setting('default', 'limit.event_mib_per_day', '1');
select outbox.backfill('shop.things', sorted) from made;
select begun(), work();
select step();
select is((select count(*) from outbox.delivery d, made where d.endpoint_id = sorted), 2::bigint, 'rows for an ordered endpoint are routed');
select is_empty('select from outbox.event_bytes', 'and do not count for the bytes of the day');

-- The key and the table change.
select outbox.backfill('shop.things', target) from made;
select begun();
alter table shop.things rename id to no;
select work();
select is((job()).status, 'done', 'a key column may be renamed');
select outbox.backfill('shop.things', target, p_rate_per_second => 1) from made;
select begun(), work();
alter table shop.things drop constraint things_pkey, add primary key (price, no);
select work();
select is(failed(), 'the primary key of shop.things has changed', 'a key of other columns stops the job');
select is((job()).status, 'running', 'until it is cancelled');
select ended();
select outbox.backfill('shop.things', target) from made;
select begun();
create role outsider;
grant create on schema shop to outsider;
grant outsider to current_user;
alter table shop.things owner to outsider;
select work();
select is(failed(), 'table shop.things is owned by outsider', 'a step reads no table that another role has got meanwhile');
select is((job()).looked, 0::bigint, 'and no row');
alter table shop.things owner to current_user;
select time_passes('11 s');
drop table shop.things;
select work();
select is((job()).status, 'cancelled', 'a backfill of a table that was dropped is cancelled');
select is(refused(), 'the table was dropped, so the job is cancelled', 'which is said');
select is_empty($$select from outbox.upkeep_refusal where sqlstate = 'XX000'$$, 'nothing else fails');

select * from finish();
rollback;
