-- A backfill sends kept events to one endpoint: those that it neither has nor had, each once.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(49);

create temporary table made as select endpoint('{*}') as first;
create temporary table old as select events(3, 'order.paid') as paid;
alter table old add sent uuid[], add invoice uuid[];
select time_passes('1 s');
update old set sent = events(2, 'order.sent', p_payload => '{"total": 5}') where true;
select time_passes('1 s');
update old set invoice = events(1, 'invoice.paid') where true;
select is(send(), 6, 'all were delivered to the endpoint of then');
select time_passes('1 h');
alter table made add late uuid;
update made set late = endpoint('{order.*}') where true;

create function job() returns outbox.replay_job language sql stable as $$
  select j from outbox.replay_job j order by j.id desc limit 1
$$;
create function progress() returns text language sql stable as $$
  select format('%s: %s sent, %s skipped, %s looked at', (j.job).status, (j.job).replayed, (j.job).skipped, (j.job).looked)
  from (select job() as job) j
$$;
-- Other sessions of the cluster may hold older transactions.
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
create function opened(p_endpoint uuid) returns uuid[] language sql stable as $$
  select array_agg(d.event_id order by d.event_id) from outbox.delivery d where d.endpoint_id = p_endpoint
$$;

create temporary table started as select outbox.backfill_events(late, p_rate_per_second => 2) ->> 'id' as id from made;
select is((job()).id::text, id, 'a backfill is a job') from started;
update outbox.replay_job set worked_at = worked_at - interval '1 s' where true;
select work();
select is((job()).after_xid, null, 'it does not begin within a second');
select work();
select is((job()).after_xid, pg_current_xact_id(), 'then it waits for the transactions of before');
select begun();
select work();
select is(progress(), 'running: 2 sent, 0 skipped, 2 looked at', 'a step sends what the rate allows in a second');
select is(opened(late), paid[1:2], 'the oldest first') from made, old;
select is((select l.key_hash from outbox.lane l join outbox.delivery d on d.lane_id = l.id limit 1), (job()).id, 'in a lane of its own');
select work();
select is(progress(), 'running: 4 sent, 0 skipped, 4 looked at', 'then the next');
select work();
select is((job()).replayed, 5::bigint, 'and the rest');
select is(opened(late), paid || sent, 'of the types that it is subscribed to') from made, old;
select is((select count(*) from outbox.delivery d, made where d.endpoint_id = made.first), 0::bigint, 'and to no other endpoint');
select is((job()).at_failed, outbox.uuid_v7_time(invoice[1]), 'the job says how far it is') from old;
select work();
select is(progress(), 'done: 5 sent, 0 skipped, 6 looked at', 'it ends');
select isnt((job()).finished_at, null, 'and says when');
select is(send(), 5, 'they are delivered');
select is((select count(*) from outbox.attempt a, made where a.endpoint_id = late and a.outcome = 'delivered'), 5::bigint, 'each once');
select is_empty('select * from miscounts()', 'the counters are right');

select outbox.backfill_events(late) from made;
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped, 6 looked at', 'another backfill sends nothing again');

-- Types, time, filters.
alter table made add wide uuid, add picky uuid;
update made set wide = endpoint('{no.such}'), picky = endpoint('{order.*}', p_filter => '$.total > 1') where true;
select outbox.backfill_events(wide) from made;
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped, 6 looked at', 'without a subscription to its type no event is sent');
select outbox.backfill_events(wide, '{invoice.*}', p_by_subscription => false) from made;
select begun(), work(2);
select is(opened(wide), invoice, 'unless the subscriptions are not asked') from made, old;
select outbox.backfill_events(wide, p_by_subscription => false, p_filter => '$.total == 5') from made;
select begun(), work(2);
select is(opened(wide), (select array_agg(e order by e) from unnest(sent || invoice) e), 'a filter selects') from made, old;
select outbox.backfill_events(picky) from made;
select begun(), work(2);
select is(opened(picky), sent, 'so does that of the subscription') from made, old;
select is((select count(*) from outbox.backfill_events((select late from made), p_from => outbox.clock() - interval '1 minute', p_until => outbox.clock())), 1::bigint, 'a span of time');
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped, 0 looked at', 'without an event ends at once');

-- Ends of an earlier delivery count, whichever they are.
select outbox.cancel_delivery(sent[1], wide) from made, old;
select outbox.backfill_events(wide, '{order.sent}', p_by_subscription => false) from made;
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped, 6 looked at', 'what was cancelled is not sent again');
-- An addressed event is for its endpoint alone.
select events(1, 'order.paid', p_endpoint_id => late) from made;
select send();
select outbox.backfill_events(wide, p_by_subscription => false) from made;
select begun(), work(2);
select is((select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id, made where e.endpoint_id is not null and d.endpoint_id = wide), 0::bigint, 'an addressed event stays with its endpoint');

-- Routing decides before.
create temporary table fresh as select events(2, 'order.new') as ids;
alter table made add newest uuid;
update made set newest = endpoint('{order.new}') where true;
select outbox.backfill_events(newest) from made;
select begun(), work(3);
select is((job()).status, 'running', 'a backfill stops before an event that is not routed');
select is((select count(*) from outbox.delivery d, made where d.endpoint_id = newest), 0::bigint, 'and does not send it');
select step(0);
select work(2);
select is(opened(newest), ids, 'after it is routed, it is sent') from made, fresh;
select send();

-- An ordered endpoint: the lanes of the keys.
alter table made add sorted uuid;
create temporary table keyed as select events(2, 'key.a', 'a') as a;
alter table keyed add b uuid[];
update keyed set b = events(2, 'key.a', 'b') where true;
select send();
update made set sorted = endpoint('{key.a}', 'partition') where true;
select outbox.backfill_events(sorted) from made;
select begun(), work(2);
select is((select array_agg(l.depth order by l.id) from outbox.lane l join outbox.gate g on g.id = l.gate_id, made where g.endpoint_id = sorted and l.ordered), '{2,2}', 'the deliveries of an ordered endpoint are in the lanes of their keys');
create temporary table claim as select claimed_events(step(), sorted) as ids from made;
select is(array[array_position(c.ids, a[1]) < array_position(c.ids, a[2]), array_position(c.ids, b[1]) < array_position(c.ids, b[2])], '{t,t}', 'in their order') from keyed, claim c;
select is_empty('select * from asleep()', 'everything open will be looked at again');

-- An event for later: its lane has one order.
alter table made add still uuid;
create temporary table later as select outbox.publish('later.on', '{}', p_deliver_at => outbox.clock() + interval '1 day') as id;
select step(0);
update made set still = endpoint('{later.*}', 'partition') where true;
select outbox.backfill_events(still) from made;
select begun(), work();
select is(progress(), 'done: 0 sent, 1 skipped, ' || (job()).looked || ' looked at', 'an ordered endpoint does not get an event before its time');
select is(opened(still), null, 'nor later') from made;
update made set newest = endpoint('{later.*}') where true;
select outbox.backfill_events(newest) from made;
select begun(), work();
select is((select due_at from outbox.delivery d, later where d.event_id = later.id and d.endpoint_id = newest), (select deliver_at from outbox.event e, later where e.id = later.id), 'another endpoint gets it at its time') from made;

-- A job makes room for live deliveries.
select outbox.backfill_events(wide, p_by_subscription => false, p_filter => '$.no == 1') from made;
update outbox.lane l set depth = 1000 where l.key_hash = (job()).id;
insert into outbox.lane (gate_id, ordered, key_hash, depth) select g.id, false, (job()).id, 999 from outbox.gate g, made where g.endpoint_id = wide;
select is(outbox.backfill_room(job(), 50), 1, 'it adds up to 1,000 deliveries that wait');
update outbox.lane l set depth = 1001 where l.key_hash = (job()).id;
select is(outbox.backfill_room(job(), 50), 0, 'and none beyond');
delete from outbox.lane l where l.key_hash = (job()).id;
select is(outbox.backfill_room(job(), 20), 20, 'or its share');
select outbox.delete_endpoint(wide) from made;
select work(2);
select is((job()).status, 'cancelled', 'a backfill to a deleted endpoint is cancelled');

-- Refusals.
alter table made add bare uuid;
update made set bare = (outbox.create_endpoint('https://example.com/bare', '{}') ->> 'id')::uuid where true;
select is(refusal(format('select outbox.backfill_events(%s)', r.args)), r.says, r.says)
from (values
  (format('%L, ''{}''', (select late from made)), 'OH001 types is an empty list'),
  (format('%L, ''{a b}''', (select late from made)), 'OH001 event_types contains ''a b'''),
  (format('%L, p_from => outbox.clock() + interval ''1 h''', (select late from made)), 'OH001 from is after until'),
  (format('%L, p_from => ''1969-12-31''', (select late from made)), 'OH001 from is no time of an event'),
  (format('%L, p_until => ''1969-12-31''', (select late from made)), 'OH001 until is no time of an event'),
  (format('%L, p_until => ''-infinity''', (select late from made)), 'OH001 until is no time of an event'),
  (format('%L', (select bare from made)), 'OH001 endpoint_id has no subscription'),
  (format('%L, p_by_subscription => null', (select late from made)), 'OH001 by_subscription is null'),
  (format('%L, p_rate_per_second => 0', (select late from made)), 'OH001 rate_per_second is 0'),
  (format('%L, p_filter => ''x''', (select late from made)), 'OH001 filter at character 1: expected a condition, not x')
) r (args, says);

select * from finish();
rollback;
