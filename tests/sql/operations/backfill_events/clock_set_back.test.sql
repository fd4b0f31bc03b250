-- A backfill has the events from before it although the clock was set back meanwhile.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

select time_is('2026-03-01 12:00:20+00');
create temporary table past as select events(2) as ahead;
select time_is('2026-03-01 12:00:00+00');
alter table past add behind uuid[];
update past set behind = events(2) where true;
create temporary table made as select endpoint() as one;
select step(0);
select is_empty('select from outbox.delivery', 'an endpoint gets nothing from before it');
select ok(outbox.latest_event_time() between e.created_at and e.created_at + interval '1 ms', 'the last event is later than the clock')
from past, outbox.event e where e.id = behind[2];
select outbox.backfill_events(one) from made;
-- Other sessions of the cluster may hold older transactions.
update outbox.replay_job set after_xid = '1', worked_at = worked_at - interval '1 s' where true;
do $$ begin while outbox.work_backfills(outbox.clock()) loop end loop; end $$;
select set_eq('select event_id from outbox.delivery', 'select unnest(ahead || behind) from past', 'the backfill has all of them');

select time_is('2026-03-01 12:02:00+00');
select is(outbox.latest_event_time(), outbox.clock(), 'once the clock is past them, it is the end');

select * from finish();
rollback;
