-- A backfill sends the rows of a table to one endpoint, each once and as a live change would be.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(38);

create schema shop;
create type shop.state as enum ('new', 'old');
create domain shop.code as text;
create table shop.orders (
  shop_id shop.code, id integer, org text, customer text, total numeric, state shop.state default 'new',
  at timestamptz default '2026-01-31 12:00+02', span interval default '1 day', price money default 1.5,
  list text[] default '{a,b}', more jsonb default '{"a": 1}', primary key (shop_id, id)
);
create temporary table made as select endpoint('{*}') as live, endpoint('{no.such}') as target;

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
create function sent() returns setof outbox.event language sql stable as $$
  select e from outbox.event e where e.correlation_id = 'backfill-' || (job()).id order by e.id
$$;

-- A watched table: byte for byte the event of a live insert.
select outbox.watch_table('shop.orders', 'order.{op}', p_org_column => 'org', p_partition_column => 'customer', p_except => '{org}');
insert into shop.orders (shop_id, id, org, customer, total)
select s, n, 'default', repeat('c', 200 * n), n + 0.50 from unnest('{b,a}'::text[]) s, generate_series(1, 3) n;
insert into shop.orders (shop_id, id, org) values ('a', 9, 'other');
set local timezone = 'Asia/Tokyo';
set local datestyle = 'German';
select ok((outbox.backfill('shop.orders', target, p_rate_per_second => 2) ->> 'watched')::boolean, 'a watched table') from made;
select begun(), work();
select is(progress(), 'running: 2 sent, 0 skipped, 2 looked at', 'a step sends what the rate allows in a second');
select work(3);
select is(progress(), 'done: 6 sent, 0 skipped, 7 looked at', 'each row is sent once');
select isnt((job()).finished_at, null, 'then the job ends');
select results_eq($$select type, body, org_id, partition_key from sent() order by (body::json -> 'record' ->> 'shop_id'), (body::json -> 'record' ->> 'id')$$,
  $$select type, body, org_id, partition_key from outbox.event where correlation_id is null and org_id = 'default' order by (body::json -> 'record' ->> 'shop_id'), (body::json -> 'record' ->> 'id')$$,
  'with the type, the body, the organisation and the partition key of a live change');
select is((select array_agg(body::json -> 'record' ->> 'shop_id' || (body::json -> 'record' ->> 'id') order by id) from sent()), '{a1,a2,a3,b1,b2,b3}', 'in the order of the primary key');
select is((select array_agg(distinct endpoint_id) from sent()), array[target], 'addressed to the endpoint') from made;
select is((select count(*) from sent() where org_id <> 'default'), 0::bigint, 'a row of another organisation is left out');
select is((select count(*) from outbox.unrouted u join sent() s on s.id = u.event_id), 0::bigint, 'an unordered endpoint has its deliveries at once');
select is((select distinct l.key_hash from outbox.lane l join outbox.delivery d on d.lane_id = l.id join sent() s on s.id = d.event_id), (job()).id, 'in a lane of the job''s own');
select is((select array_agg(d -> 'endpoint' order by 1) from jsonb_array_elements(step() -> 'deliveries') d, made where d ->> 'endpoint' = target::text), (select array_agg(to_jsonb(target)) from made, generate_series(1, 6)), 'they are claimed');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

-- A filter on the payload; rows of after the start.
select outbox.backfill('shop.orders', target, '$.record.total > 2 && $.record.shop_id == "a"') from made;
select begun(), work();
insert into shop.orders (shop_id, id, org, total) values ('c', 1, 'default', 9);
select work(2);
select is((select array_agg(body::json -> 'record' ->> 'shop_id' || (body::json -> 'record' ->> 'id') order by id) from sent()), '{a2,a3}', 'a filter selects');
select is(progress(), 'done: 2 sent, 0 skipped, 7 looked at', 'a row behind the last key of the begin is not read');

-- What changes while the job runs is sent as it is then.
select outbox.backfill('shop.orders', target, p_rate_per_second => 1) from made;
select begun(), work();
update shop.orders set total = 77 where (shop_id, id) = ('a', 2);
delete from shop.orders where (shop_id, id) = ('a', 3);
alter table shop.orders rename column total to amount;
select work();
select is((select body::json -> 'record' ->> 'amount' from sent() order by id desc limit 1), '77', 'a row is sent as it is now, with the names of now');
select outbox.set_replay_job((job()).id::text, 'paused');
select work(2);
select is((job()).replayed, 2::bigint, 'a paused job sends nothing');
select outbox.set_replay_job((job()).id::text, 'running');
select work(8);
select is(progress(), 'done: 6 sent, 0 skipped, 7 looked at', 'and goes on, without the row that was deleted');

-- A row whose event is invalid.
insert into shop.orders (shop_id, id, org, customer) values ('d', 1, 'default', repeat('x', 3000));
update outbox.setting set value = '1024' where name = 'publish.max_body_bytes';
select outbox.backfill('shop.orders', target, '$.record.shop_id == "d" || $.record.shop_id == "c"') from made;
select begun(), work(2);
select is(progress(), 'done: 1 sent, 1 skipped, 8 looked at', 'is skipped');
select matches((select error from outbox.upkeep_refusal where task = 'outbox.backfill' and member = 'rows of replay job ' || (job()).id), '^1 rows of one step, the last: row 8: OH001 .*payload has .* bytes, more than 1024', 'and queue_health shows why');

-- The watch ends.
select outbox.backfill('shop.orders', target) from made;
select outbox.unwatch_table('shop.orders');
select begun(), work();
select is((select error from outbox.upkeep_refusal where member = 'replay job ' || (job()).id), 'shop.orders is not watched', 'without its watch the job stops, and says so');
select is((job()).status || (job()).looked, 'running0', 'and would continue');
select outbox.set_replay_job((job()).id::text, 'cancelled');

-- A table that is not watched.
select is(outbox.backfill('shop.orders', target, p_type => 'old.order', p_partition_column => 'customer', p_columns => '{shop_id,id}', p_where => '$.record.id < 3') ->> 'watched', 'false', 'a table that is not watched') from made;
select begun(), work(2);
select results_eq('select type, body, org_id, partition_key from sent() limit 1', $$values ('old.order',
  '{"type" : "INSERT", "table" : "orders", "schema" : "shop", "record" : {"shop_id":"a","id":1}, "old_record" : null}', 'default', repeat('c', 200))$$,
  'has the type and the columns of the arguments');

-- An ordered endpoint: the events are routed.
alter table made add ordered uuid;
update made set ordered = endpoint('{no.such}', 'partition') where true;
select outbox.backfill('shop.orders', ordered, p_columns => '{shop_id,id}', p_rate_per_second => 3) from made;
select begun(), work();
select is((select count(*) from outbox.unrouted u join sent() s on s.id = u.event_id), 3::bigint, 'events to an ordered endpoint are routed as all others');
select work();
select is((job()).replayed, 3::bigint, 'the job waits for it');
select step(0);
select work();
select is((job()).replayed, 6::bigint, 'and continues');

-- Tables.
create table shop.empty (id integer primary key);
select is(outbox.backfill('shop.empty', target) - 'id', '{"table": "shop.empty", "watched": false, "total": null}', 'an empty table') from made;
select begun(), work();
select is(progress(), 'done: 0 sent, 0 skipped, 0 looked at', 'is done at once');
create table shop.keyless (id integer);
create table shop.odd (id money primary key);
create table shop.parts (id integer primary key) partition by range (id);
create table shop.part partition of shop.parts for values from (0) to (10);
insert into shop.parts values (2), (1);
select is(outbox.backfill('shop.parts', target) ->> 'table', 'shop.parts', 'a partitioned table') from made;
select begun(), work(2);
select is((select array_agg(body::json -> 'record' ->> 'id' order by id) from sent()), '{1,2}', 'is read as one');
create role outsider;
create table shop.theirs (id integer primary key);
grant create on schema shop to outsider;
grant outsider to current_user;
alter table shop.theirs owner to outsider;
revoke outsider from current_user;
select is(refusal(format('select outbox.backfill(%s)', replace(r.args, 'target', quote_literal(target)))), r.says, r.says)
from made, (values
  ('''shop.keyless'', target', 'OH001 table shop.keyless has no primary key'),
  ('''shop.odd'', target', 'OH001 table shop.odd has a primary key with the column id, which has no type of Postgres'),
  ('''shop.theirs'', target', 'OH001 table shop.theirs is owned by outsider'),
  ('''shop.part'', target', 'OH001 table shop.part is a partition'),
  ('''shop.empty'', target, p_columns => ''{no}''', 'OH001 columns has ''no'', which is not a column of shop.empty'),
  ('''shop.empty'', target, p_where => ''x''', 'OH001 filter at character 1: expected a condition, not x'),
  ('''outbox.event'', target', 'OH001 table is outbox.event')
) r (args, says);

select * from finish();
rollback;
