-- A backfill that includes what was delivered sends it again, and leaves every other state as it is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(45);

create temporary table made as select endpoint('{order.*}', p_retry => plain_retry(1)) as one;
create temporary table past as select events(2, 'order.failed') as dead;
select fail();
select time_passes('2 s');
select is(fail(), 2, 'two are dead letters');
select outbox.replay(dead[2], one) from made, past;
select is(send(), 1, 'one of which was replayed and delivered');
alter table past add paid uuid[], add cancelled uuid[], add undone uuid[], add gone uuid[], add apart uuid[],
  add kept uuid[], add never uuid[], add flying uuid[], add retried uuid[], add refused uuid[];
update past set paid = events(3, 'order.paid'), undone = events(1, 'order.undone'), gone = events(1, 'order.gone') where true;
select is(send(), 5, 'some were delivered');
select outbox.replay(undone[1], one) from made, past;
select time_passes('1 ms');
select outbox.cancel_delivery(undone[1], one) from made, past;
delete from outbox.event e using past where e.id = gone[1];
update past set cancelled = events(1, 'order.cancelled') where true;
select step(0);
select outbox.cancel_delivery(cancelled[1], one) from made, past;
-- A dead letter that was delivered is stored longer than its attempts.
update past set kept = events(2, 'order.kept') where true;
select fail();
select time_passes('2 s');
select fail();
select outbox.replay(kept[1], one) from made, past;
select is(send(), 1, 'one more dead letter was delivered');
delete from outbox.attempt a using past where a.event_id = any (kept);
update past set never = events(2, 'late.made', p_payload => '{"total": 5}'), apart = events(1, 'late.made', p_endpoint_id => endpoint('{none}')) where true;
select step(0);
select outbox.subscribe(one, '{late.*}') from made;
update past set flying = events(1, 'order.flying') where true;
select step();
update past set retried = events(1, 'order.retried') where true;
select is(fail(), 1, 'one waits for its retry');
update past set refused = events(1, 'order.refused') where true;
select step(0);
delete from outbox.delivery d using past where d.event_id = refused[1];
update outbox.lane l set depth = l.depth - 1 from outbox.gate g, made where g.endpoint_id = one and l.gate_id = g.id and l.key_hash = 0;
update outbox.gate g set depth = g.depth - 1 from made where g.endpoint_id = one;
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at) select refused[1], one, 'routing', 1, '23514', 'no', outbox.clock(), 'infinity' from made, past;
select is_empty('select * from miscounts()', 'the counters are right before');

create function job() returns outbox.replay_job language sql stable as $$
  select j from outbox.replay_job j order by j.id desc limit 1
$$;
create function progress() returns text language sql stable as $$
  select format('%s: %s sent, %s skipped', (j.job).status, (j.job).replayed, (j.job).skipped) from (select job() as job) j
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
create function lane_of(p_event uuid, p_endpoint uuid) returns outbox.lane language sql stable as $$
  select l from outbox.lane l join outbox.delivery d on d.lane_id = l.id where d.event_id = p_event and d.endpoint_id = p_endpoint
$$;
create temporary table before as select d.* from outbox.delivery d;

select outbox.backfill_events(one) from made;
select begun(), work(2);
select is(progress(), 'done: 2 sent, 0 skipped', 'by default, only what the endpoint has never had is sent');
select is((job()).include_delivered, false, 'and the job says so');
select outbox.cancel_delivery(never[n], one) from made, past, generate_series(1, 2) n;

-- Each state.
update past set never = events(2, 'later.made') where true;
select step(0);
select outbox.subscribe(one, '{later.*}') from made;
select outbox.backfill_events(one, p_include_delivered => true) from made;
select is((select a.data ->> 'includeDelivered' from outbox.audit_event a where a.entity_id = (job()).id::text), 'true', 'the audit trail tells what the job includes');
select begun(), work(2);
select is(progress(), 'done: 7 sent, 0 skipped', 'what was delivered is sent again');
select is(
  array(select d.event_id from outbox.delivery d, made where d.endpoint_id = one and not exists (select from before b where b.event_id = d.event_id) order by 1),
  (select array(select u from unnest(paid || dead[2] || kept[1] || never) u order by 1) from past), 'the delivered ones, and those that it never had');
select results_eq(
  'select d.* from outbox.delivery d join before b using (event_id, endpoint_id) order by d.event_id', 'select b.* from before b order by b.event_id', 'what is in flight or waits for its retry is unchanged');
select is(status_of(dead[1], one), 'dead_letter', 'a dead letter stays one') from made, past;
select is(status_of(kept[2], one), 'dead_letter', 'also without its attempts') from made, past;
select is(status_of(cancelled[1], one), 'cancelled', 'what was cancelled is not sent') from made, past;
select is(status_of(undone[1], one), 'cancelled', 'also if it was delivered before') from made, past;
select is((select count(*) from outbox.delivery d, past where d.event_id = refused[1]), 0::bigint, 'what the database refused is not sent');
select is((select count(*) from outbox.delivery d, past where d.event_id = gone[1]), 0::bigint, 'nor an event that is deleted');
select is((select count(*) from outbox.delivery d, past, made where d.event_id = apart[1] and d.endpoint_id = one), 0::bigint, 'nor what is for another endpoint');
select is((lane_of(paid[1], one)).key_hash, (job()).id, 'a repeat is in the lane of the job') from made, past;
select is((lane_of(never[1], one)).id, (lane_of(paid[1], one)).id, 'as the others') from made, past;
select is((select d.replayed_at is not null and d.attempt = 1 from outbox.delivery d, past where d.event_id = paid[1]), true, 'a repeat is a replay, whose attempts go on');
select is((select d.replayed_at from outbox.delivery d, past where d.event_id = never[1]), null, 'what was never sent is none');
select is((select x.replayed_at > x.delivered_at from outbox.dead_letter x, past where x.event_id = dead[2]), true, 'a delivered dead letter is replayed');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select outbox.backfill_events(one, p_include_delivered => true) from made;
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped', 'a repeat that is open is not sent a third time');
delete from outbox.refusal r using past where r.event_id = refused[1];
select send(p_limit => 50);
select is(attempts(paid[1], one), '1 delivered, 2 delivered', 'each attempt has its row') from made, past;
select is(attempts(dead[2], one), '1 failed, 2 failed, 2 closed as dead_letter, 3 delivered, 4 delivered', 'also after a dead letter') from made, past;
select is(attempts(never[1], one), '1 delivered', 'what was new is sent once') from made, past;

-- An order: repeats have none, as replays.
alter table made add sorted uuid;
alter table past add keyed uuid[], add fresh uuid[];
update made set sorted = endpoint('{key.a}', 'partition') where true;
update past set keyed = events(2, 'key.a', 'a') where true;
select send();
update past set fresh = events(1, 'key.b', 'a') where true;
select send();
select outbox.subscribe(sorted, '{key.*}') from made;
select outbox.backfill_events(sorted, p_include_delivered => true) from made;
select begun(), work(2);
select is(progress(), 'done: 3 sent, 0 skipped', 'an ordered endpoint gets them too');
select is((select ((lane_of(k, sorted)).ordered, (lane_of(k, sorted)).key_hash)::text from unnest(keyed) k limit 1), (false, (job()).id)::text, 'repeats are in the lane of the job, outside the order') from made, past;
select is((lane_of(fresh[1], sorted)).ordered, true, 'and what is new in that of its key') from made, past;
select is(send(), 3, 'neither waits for the other');
select is_empty('select * from miscounts()', 'the counters are right again');

-- Delivered after the start of the job.
alter table made add busy uuid;
alter table past add waiting uuid[];
update made set busy = endpoint('{busy}') where true;
update past set waiting = events(2, 'busy') where true;
select outbox.backfill_events(busy, p_include_delivered => true) from made;
select time_passes('1 s');
select send();
select begun(), work(2);
select is(progress(), 'done: 0 sent, 0 skipped', 'what is delivered while the job runs is not sent again');

-- The rate, a filter that fails, and an event that the database refuses.
alter table made add slow uuid;
alter table past add many uuid[];
update made set slow = endpoint('{many}') where true;
update past set many = events(4, 'many') || events(1, 'many', p_payload => '{"total": 5}') where true;
select send();
insert into outbox.partition_check (name, clean_nights, checked_on)
select c.relname, 2, '2026-03-01' from outbox.event e join pg_class c on c.oid = e.tableoid, past where e.id = many[1];
select outbox.backfill_events(slow, p_rate_per_second => 2, p_include_delivered => true) from made;
select begun(), work();
select is((job()).replayed, 2::bigint, 'repeats count for the rate');
select results_eq('select clean_nights from outbox.partition_check', '{0}'::integer[], 'their partition is not dropped');
create function refuse_one() returns trigger language plpgsql as $$
begin
  if new.event_id = (select m from past, unnest(many) m order by m limit 1 offset 2) then
    raise exception using errcode = '40P01', message = 'not now';
  end if;
  return new;
end
$$;
create trigger refuse_one before insert on outbox.delivery for each row execute function refuse_one();
select work();
select is(array[(job()).looked, (job()).replayed, (job()).skipped], array[(select count(*) from outbox.event e where e.org_id = 'default' and e.id <= (job()).at_id), 2, 0], 'a step stops before an event that is refused for now');
select is(array(select r.task || ': ' || r.error from outbox.upkeep_refusal r where r.member like 'event %'), array['outbox.backfill_events: not now'], 'and the refusal names the backfill');
drop trigger refuse_one on outbox.delivery;
select work(2);
select is(progress(), 'done: 5 sent, 0 skipped', 'and sends it in a later one');
select send();
select is((select array_agg(distinct attempts(m, slow)) from unnest(many) m), '{"1 delivered, 2 delivered"}', 'each is sent again once') from made, past;
select outbox.backfill_events(slow, p_filter => '$.total == 5', p_include_delivered => true) from made;
select begun(), work();
select is(progress(), 'done: 1 sent, 0 skipped', 'a filter selects');
select is(outbox.send_again(job(), many[1], 'filter: it failed', outbox.clock()), 0, 'an event whose filter fails is skipped') from past;

select is(refusal(format('select outbox.backfill_events(%L, p_include_delivered => null)', one)), 'OH001 include_delivered is null', 'it is included or not') from made;

select * from finish();
rollback;
