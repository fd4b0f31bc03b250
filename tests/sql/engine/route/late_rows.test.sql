-- Rows that appear below the watermark: their transactions were open when routing read last, or came since.
begin;
\ir ../../_helpers.sql
select plan(14);

select endpoint('{*}');
create temporary table given as select events(6) as ids;
-- As if 6 had been read while the transaction 50 was open, and all of these committed since. Not the end of the
-- snapshot: other tests' transactions move that on, past this one.
update outbox.unrouted u set xid = c.xid::xid8
from given g, (values (1, '50'), (2, '60'), (3, '40')) c (n, xid)
where u.event_id = g.ids[c.n];
update outbox.router set watermark = (select ids[5] from given), seen_below = pg_current_xact_id(), open_xids = '{50}'
where true;
delete from outbox.unrouted u using given g where u.event_id = any (g.ids[3:4]);
delete from outbox.unrouted u using given g where u.event_id = g.ids[2];

select ok(outbox.has_unrouted(), 'has_unrouted() sees late rows');
create temporary table before as select pg_snapshot_xmax(pg_current_snapshot()) as ends_at;
create temporary table batch as select (outbox.read_unrouted()).*;
select is((select events from batch), (select array[ids[1], ids[5], ids[6]] from given),
  'read_unrouted() takes the late rows first, and then what lies above the watermark');
select is((select watermark from batch), (select ids[6] from given), 'the watermark is that of the new rows');
select ok((select seen_below between ends_at and pg_snapshot_xmax(pg_current_snapshot()) from batch, before), 'seen_below is the end of the snapshot');
select ok((select pg_current_xact_id() = any (open_xids) from batch), 'the own transaction counts as open');
select is(step(0) -> 'routed', '3', 'all of them are routed');

-- Rows of the own transaction after its own read.
select is((select open_xids from outbox.router), (select open_xids from batch), 'router remembers the open transactions');
create temporary table behind as select outbox.uuid_v7('2026-01-01') as id;
insert into outbox.event (id, org_id, type, body, created_at) select id, 'default', 'behind', '{}', outbox.clock() from behind;
insert into outbox.unrouted (event_id, org_id) select id, 'default' from behind;
select ok(outbox.has_unrouted(), 'a row that comes below the watermark after the read is seen');
select is(step(0) -> 'routed', '1', 'and routed');
select is((select watermark from outbox.router), (select ids[6] from given), 'the watermark does not go back');

-- A full batch of late rows keeps the state, so that the rest of them is found again.
create temporary table crowd as select array(select outbox.uuid_v7('2026-01-01'::timestamptz + n * interval '1 ms') from generate_series(1, 5) n) as ids;
insert into outbox.event (id, org_id, type, body, created_at) select unnest(ids), 'default', 'behind', '{}', outbox.clock() from crowd;
insert into outbox.unrouted (event_id, org_id) select unnest(ids), 'default' from crowd;
update outbox.router set batch = 2 where true;
do $$ begin perform outbox.set_setting('route.batch_size', '2'); end $$;
select is(array(select (step(0) ->> 'routed')::integer from generate_series(1, 4)), '{2,2,1,0}', 'more late rows than a batch are taken batch by batch');

-- A cluster restored from a dump counts transactions from a small number again.
update outbox.router set seen_below = '9000000000000', open_xids = '{}' where true;
create temporary table restored as select outbox.uuid_v7('2026-01-02') as id;
insert into outbox.event (id, org_id, type, body, created_at) select id, 'default', 'restored', '{}', outbox.clock() from restored;
insert into outbox.unrouted (event_id, org_id, xid) select id, 'default', '70' from restored;
select time_passes('1 s');
create temporary table new as select outbox.publish('new', '{}') as id;
do $$ begin perform step(0); end $$;
select set_eq('select event_id from outbox.delivery where event_id in (select id from restored union select id from new)',
  'select id from restored union select id from new', 'routing begins anew when its state lies beyond the present');
select ok((select r.seen_below < '9000000000000' and r.watermark = n.id from outbox.router r, new n), 'and has a state of this cluster then');
select ok(not outbox.has_unrouted(), 'with nothing left over');

select * from finish();
rollback;
