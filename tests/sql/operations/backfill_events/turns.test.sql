-- Backfills share what a second allows, and take turns: one step of one job in each transaction.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table jobs (name text, endpoint uuid, id bigint);
create function started(p_name text, p_org text, p_rate integer default 1000) returns void language plpgsql as $$
declare
  v_endpoint uuid := helper.endpoint('{a}', p_org_id => p_org);
begin
  insert into jobs values (p_name, v_endpoint, (outbox.backfill_events(v_endpoint, p_rate_per_second => p_rate) ->> 'id')::bigint);
end
$$;
create function job(p_name text) returns outbox.replay_job language sql stable as $$
  select j from outbox.replay_job j join jobs s on s.id = j.id where s.name = p_name
$$;
create function turns() returns text language plpgsql as $$
declare
  v_names text := '';
begin
  loop
    create temporary table seen on commit drop as select j.id, j.worked_at from outbox.replay_job j;
    if not outbox.work_backfills(outbox.clock()) then
      drop table seen;
      return v_names;
    end if;
    v_names := v_names || (select s.name from outbox.replay_job j join seen using (id) join jobs s using (id) where j.worked_at <> seen.worked_at);
    drop table seen;
  end loop;
end
$$;

select is(outbox.work_backfills(outbox.clock()), false, 'without a backfill there is no step');
insert into outbox.event (id, org_id, type, body, created_at)
select outbox.uuid_v7(at), o, 'a', '{}', at
from unnest('{org-1,org-2}'::text[]) o, generate_series(1, 1500) n, lateral (select timestamptz '2026-03-01 11:00:00+00' + n * interval '1 ms' as at) t;
select started('a', 'org-1');
select time_passes('10 ms');
select started('b', 'org-1');
select time_passes('10 ms');
select started('c', 'org-2');
select is(turns(), '', 'a job has no step in the second of its start');
select is((job('a')).waits_for, 'transactions that were open at its start', 'and says why');
update outbox.replay_job set after_xid = '1', waits_for = null where true;
select time_passes('1 s');
select is(turns(), 'acb', 'each job has one step in a second, after one of another organisation');
select is(outbox.work_backfills(outbox.clock()), false, 'and no other');
select is(array[(job('a')).replayed, (job('b')).replayed, (job('c')).replayed], '{250,250,500}', 'organisations share equally, and their jobs');
select time_passes('1 s');
select outbox.work_backfills(outbox.clock());
select time_passes('1 s');
select is(turns(), 'cba', 'when the time is short, the organisation that waited longest is the next');

-- A job that starts anew is not always the first.
select outbox.set_replay_job(id::text, 'cancelled') from jobs where name in ('a', 'b');
select time_passes('1 s');
select started('d', 'org-1', 100);
update outbox.replay_job set after_xid = '1', waits_for = null where status = 'running';
select time_passes('1 s');
select is(turns(), 'cd', 'a job that starts anew waits for those before it');

-- What cannot send takes no share.
select outbox.set_replay_job(id::text, 'cancelled') from jobs where name <> 'd' and (select j.status from outbox.replay_job j where j.id = jobs.id) = 'running';
select started('e', 'org-2');
update outbox.replay_job set after_xid = '1' where status = 'running';
insert into outbox.lane (gate_id, ordered, key_hash, depth) select g.id, false, j.id, 1000 from outbox.gate g join jobs j on j.endpoint = g.endpoint_id where j.name = 'e';
select time_passes('1 s');
select turns();
select is((job('e')).waits_for, 'its endpoint: 1000 deliveries wait', 'a job without room says so');
select is((select parts from outbox.job_shares(true, outbox.clock()) s join jobs j on j.id = s.job_id where j.name = 'd'), 1::bigint, 'and takes no share of others');
select is((select parts from outbox.job_shares(true, outbox.clock(), (job('e')).id) s join jobs j on j.id = s.job_id where j.name = 'e'), 2::bigint, 'but has its own in its next step');
delete from outbox.lane l using jobs j where j.id = l.key_hash and j.name = 'e';
select time_passes('1 s');
select turns();
select is((job('e')).waits_for, null, 'when it has room it works on');
select is((select count(*) from outbox.job_shares(true, outbox.clock())), 2::bigint, 'and takes a share again');
-- The tick does not: the step commits by itself.
select is(outbox.work_replay_jobs(outbox.clock() + interval '1 s'), 0, 'a step of replay jobs leaves backfills alone');
select is(outbox.try_backfill(clock_timestamp()), false, 'no step begins when the time is over');

select * from finish();
rollback;
