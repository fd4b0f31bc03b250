-- mark_delivered() leaves out for now what a run holds or the database refuses, ends all others, and comes back.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(18);

-- Steps until there is none; how many.
create function work() returns integer language plpgsql as $$
declare
  v_n integer := 0;
begin
  while outbox.work_delivered_marks(outbox.clock()) loop
    v_n := v_n + 1;
    if v_n > 200 then
      raise 'the job does not end';
    end if;
  end loop;
  return v_n;
end
$$;
create function marked() returns text language sql stable as $$
  select marked || case when finished_at is null then ' goes on' else ' done' end from outbox.delivered_mark order by id desc limit 1
$$;

create temporary table e as select endpoint('{a}') as a, endpoint('{b}') as b, endpoint('{b}') as c;

-- A lease that is not over.
do $$ begin perform events(1, 'a'), step(100), events(2, 'b'), time_passes('1 s'); end $$;
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), '4 goes on', 'the job ends all others, and waits for the lease');
select is(work(), 0, 'there is no step while it waits');
do $$ begin perform outbox.mark_delivered(outbox.clock(), p_endpoint_id => b), work() from e; end $$;
select is(marked(), '0 done', 'another job does not wait for it');
do $$ begin perform time_passes('3 minutes'), work(); end $$;
select is((select marked || ' ' || (finished_at is not null) from outbox.delivered_mark order by id limit 1), '5 true', 'after the lease it is ended');
select is_empty('select from outbox.delivery', 'nothing is open');

-- More than a step that the database refuses to end.
create temporary table bad as select unnest(events(230, 'a')) as id;
do $$ begin perform events(30, 'a'), events(5, 'b'), time_passes('1 s'); end $$;
create function refuse() returns trigger language plpgsql as $$
begin
  if exists (select from bad where id = new.event_id) then
    raise 'not this one';
  end if;
  return new;
end
$$;
create trigger t_refuse before insert on outbox.attempt for each row execute function refuse();
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), '40 goes on', 'what the database refuses keeps back no other delivery and no other endpoint');
select is((select count(*)::integer from outbox.upkeep_refusal where task = 'outbox.mark_delivered' and error = 'not this one'), 230, 'each is shown with its error');
select is((select count(*)::integer from outbox.delivery join bad on id = event_id), 230, 'and stays open');
select is_empty('select * from miscounts()', 'the counters are right');
select is(work(), 0, 'the job rests');
do $$ begin perform time_passes('10 s'), work(); end $$;
select is(marked(), '40 goes on', 'and tries it again');
drop trigger t_refuse on outbox.attempt;
do $$ begin perform time_passes('10 s'), work(); end $$;
select is(marked(), '270 done', 'it ends when the cause is removed');
select is_empty($$select from outbox.upkeep_refusal where task = 'outbox.mark_delivered'$$, 'then nothing is shown');
select is_empty('select * from miscounts()', 'the counters are right');

-- What waits after an error of routing is set aside, if it was due until then.
create temporary table early as select (events(1, 'b'))[1] as id, outbox.clock() as at;
do $$ begin perform step(0), time_passes('1 s'); end $$;
create temporary table later as select (events(1, 'b'))[1] as id;
create temporary table scheduled as select (outbox.publish('b', '{}', p_deliver_at => outbox.clock() + interval '1 hour')) as id;
do $$ begin
  perform step(0);
  insert into outbox.unroutable (event_id, error, set_aside_at, org_id, again_at)
  select v.id, 'no space', at, 'default', at + interval '1 day'
  from early, unnest(array[early.id, (select id from later)]) v (id);
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select v.id, b, 'routing', 1, '53100', 'no space', at, at + interval '1 day'
  from early, e, unnest(array[early.id, (select id from later)]) v (id);
  perform outbox.mark_delivered(at, p_endpoint_id => c), work() from early, e;
end $$;
select is((select count(*)::integer from outbox.refusal where again_at = 'infinity'), 0, 'a job of one endpoint leaves the deliveries of others');
do $$ begin perform outbox.mark_delivered(at, 'default'), work() from early; end $$;
select is((select array_agg(event_id) from outbox.unroutable where again_at = 'infinity'), array[id], 'an event that was due is set aside') from early;
select is((select array_agg(event_id) from outbox.refusal where step = 'routing' and again_at = 'infinity'), null, 'a delivery that exists ends with its refusal');
select is((select array_agg(event_id) from outbox.refusal where step = 'routing' and again_at < 'infinity'), array[id], 'a later one is tried again') from later;

select * from finish();
rollback;
