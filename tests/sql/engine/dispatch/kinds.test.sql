-- A run gets deliveries only of the kinds that it can send. What no live run can send waits, visibly.
begin;
\ir ../../_helpers.sql
select plan(39);

-- Each 15 s begin with 5 s in which what nobody can send stays due.
create function phase_is(p_seconds numeric) returns void language sql as $$
  select helper.time_is(to_timestamp((ceil(extract(epoch from outbox.clock()) / 15) * 15 + p_seconds)::double precision))
$$;
select time_is(now());
select phase_is(5);
insert into outbox.endpoint_kind (kind, retry) values ('pigeon', plain_retry());
alter table outbox.endpoint disable trigger user;
create temporary table made as select endpoint('{a}') as web, endpoint('{b}') as pigeon;
update outbox.endpoint set kind = 'pigeon' where id = (select pigeon from made);
create function call(p_run integer, p_kinds jsonb default null, p_held integer default null) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-0000000000a' || p_run)::uuid, nextval('helper.seq'), '[]', 100, 'worker',
    p_contract => jsonb_strip_nulls(jsonb_build_object('oldest', 1, 'newest', 1, 'kinds', p_kinds)), p_held => p_held)::jsonb
$$;
create function problem() returns text language sql as $$
  select p from outbox.queue_health, unnest(problems) p where p like '%can send kind%'
$$;
create temporary table answer as select '{}'::jsonb as a;

do $$ begin perform events(2, 'a'), events(2, 'b'); end $$;
update answer set a = call(1, '["webhook", "whatsapp"]') where true;
select results_eq('select claimed(a, web), claimed(a, pigeon) from answer, made', 'values (2, 0)', 'a run gets only the kinds that it names');
select is((select kinds from outbox.run), '{webhook,whatsapp}', 'which its row shows');
select alike(problem(), 'deliveries wait for a run that can send kind pigeon: %(runbook: No sender)', 'queue_health shows what waits');
select is((select reason from outbox.endpoint_status s join made on s.id = pigeon), 'waits for a run that can send kind pigeon', 'and endpoint_status');
select is((select reason from outbox.endpoint_status s join made on s.id = web), null, 'only for this kind');
select is((select count(*)::integer from outbox.delivery where attempt > 0), 2, 'no attempt is spent');
select is(outbox.has_due(outbox.clock()), false, 'what nobody can send starts no run');
select time_passes('9 s');
select is(outbox.has_due(outbox.clock()), false, 'for 10 s');
select time_passes('1 s');
select ok(outbox.has_due(outbox.clock()), 'then again');
update answer set a = call(1, '["webhook"]') where true;
select is(claimed(a), 0, 'a run that cannot send it gets nothing') from answer;
select ok(outbox.has_due(outbox.clock()), 'it stays due, so that the tick starts a run');
select isnt(problem(), null, 'and queue_health shows it');
select is((select kinds from outbox.run), '{webhook}', 'a run may name other kinds in a later call');
select time_passes('10 s');
update answer set a = call(2) where true;
select is(claimed(a, pigeon), 2, 'an older run, which names no kinds, gets all') from answer, made;
select time_passes('51 s');
select is(problem(), null, 'a minute later nothing waits any more');

-- Two runs with different senders.
do $$ begin perform time_passes('1 h'), call(1, '["webhook"]'), call(3, '["pigeon"]'), time_passes('1 s'), events(2, 'a'), events(2, 'b'), call(1, '["webhook"]'); end $$;
select is(problem(), null, 'nothing waits if another live run can send it');
select ok(outbox.has_due(outbox.clock()), 'and it stays due');
update answer set a = call(3, '["pigeon"]') where true;
select is(claimed(a, pigeon) >= 2 and claimed(a, web) = 0, true, 'each run gets its own kind') from answer, made;
do $$ begin perform time_passes('11 s'), events(1, 'b'), call(1, '["webhook"]'); end $$;
select isnt(problem(), null, 'a run that has not polled for 10 s is not alive');

-- Names of other forms.
do $$ begin perform time_passes('1 h'), events(1, 'b'); end $$;
update answer set a = call(4, '"webhook"') where true;
select ok(claimed(a, pigeon) > 0, 'what is no list of names leaves out nothing') from answer, made;
do $$ begin perform time_passes('1 h'), events(1, 'b'); end $$;
update answer set a = call(5, '[]') where true;
select is(claimed(a), 0, 'an empty list leaves out all') from answer;

-- Many endpoints that the run cannot send, before one that it can.
do $$ begin perform time_passes('1 h'); end $$;
create temporary table crowd as select endpoint('{crowd}') as id from generate_series(1, 120);
update outbox.endpoint set kind = 'pigeon' where id in (select id from crowd);
do $$ begin perform call(2), events(1, 'crowd'), call(3, '["pigeon"]', 1), time_passes('1 s'), events(1, 'a'); end $$;
update outbox.gate set next_at = outbox.clock() - interval '1 s' where endpoint_id in (select id from crowd);
update answer set a = outbox.dispatch('00000000-0000-7000-8000-0000000000a1', nextval('helper.seq'), '[]', 5, 'worker',
  p_contract => '{"oldest": 1, "newest": 1, "kinds": ["webhook"]}')::jsonb where true;
select is(claimed(a, web) > 0, true, 'they do not hide it') from answer, made;

-- Isolated and refused deliveries.
delete from outbox.delivery where true;
update outbox.gate set depth = 0, in_flight = 0, next_at = 'infinity' where true;
update outbox.lane set depth = 0, leased = 0, leased_until = null, next_at = 'infinity' where true;
delete from outbox.endpoint_refusal where true;
delete from outbox.run where true;
do $$
begin
  perform time_passes('1 h'), events(1, 'b');
  for v_time in 1 .. 3 loop
    perform call(6, '["pigeon"]', 0), time_passes('1 min');
  end loop;
  perform call(6, '["pigeon"]', 1);
end
$$;
select ok((select g.isolated_at < 'infinity' from outbox.gate g join made on pigeon = endpoint_id), 'a delivery is isolated');
do $$ begin perform time_passes('1 min'); end $$;
select is(claimed(call(7, '["webhook"]', 0)), 0, 'a run that cannot send it does not get it');
select is(outbox.drains('00000000-0000-7000-8000-0000000000a7', outbox.clock()), false, 'and does not drain for it');
-- Nothing else is due.
do $$ begin perform phase_is(6); end $$;
delete from outbox.waiting_kind where true;
update outbox.gate g set next_at = 'infinity' where true;
update outbox.gate g set isolated_at = outbox.clock() from made where pigeon = g.endpoint_id;
select ok(outbox.has_due(outbox.clock()), 'it alone is due');
select is(claimed(call(7, '["webhook"]', 0)), 0, 'a run that cannot send it does not get it');
select is(outbox.has_due(outbox.clock()), false, 'but delays it, so that it starts no run each second');
select is((select g.isolated_at - outbox.clock() from outbox.gate g join made on pigeon = g.endpoint_id), interval '9 s', 'until the next 15 s begin');
select alike(problem(), '%kind pigeon%', 'queue_health shows that it waits');
select time_passes('10 s');
select is(claimed(call(6, '["pigeon"]', 0)), 1, 'a run that can send it gets it');
do $$ begin perform time_passes('1 h'), events(1, 'b'), outbox.refuse_endpoint((select pigeon from made), 'P0001', 'no claim', outbox.clock()), time_passes('1 min'); end $$;
select is(claimed(call(7, '["webhook"]')), 0, 'a refused endpoint is not tried by a run that cannot send it');
select is((select failures from outbox.endpoint_refusal), 1, 'and its refusal stays');
select time_passes('10 s');
select ok(claimed(call(6, '["pigeon"]', 0)) > 0, 'a run that can send it tries it');

-- What the run cannot send is left out also in a repeat, and a database that does not know the kind is no problem.
select is(claimed(call(8, '["unknown"]')), 0, 'a kind that the database does not know is no error');
select is(outbox.unsent_kinds() @> '{webhook,pigeon}', true, 'all others are left out');

-- Only an edge function can send it, and a worker polls: the tick starts a run of the function.
delete from outbox.delivery where true;
update outbox.gate set depth = 0, in_flight = 0, next_at = 'infinity', isolated_at = 'infinity' where true;
update outbox.lane set depth = 0, leased = 0, leased_until = null, next_at = 'infinity' where true;
delete from outbox.run where true;
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
do $$ begin perform outbox.set_setting('kick.on_commit', 'false'), time_passes('1 h'), phase_is(5), call(1, '["webhook"]'), events(1, 'b'); end $$;
create function kicked_at(p_seconds integer) returns integer[] language plpgsql as $$
declare
  v_at integer[] := '{}';
begin
  for n in 1 .. p_seconds * 4 loop
    perform helper.time_passes('250 ms'), helper.call(1, '["webhook"]');
    if n % 4 = 0 and outbox.tick() ->> 'kicked' = 'true' then
      v_at := v_at || floor(extract(epoch from outbox.clock()))::integer % 15;
    end if;
  end loop;
  return v_at;
end
$$;
create temporary table kick as select kicked_at(15) as at;
select is(at[1], 1, 'a second after the next 15 s begin') from kick;
select is(at <@ '{1,2,3,4,5}', true, 'and only in their first 5 s') from kick;
do $$ begin perform phase_is(1); end $$;
select is(claimed(call(3, '["pigeon"]'), pigeon) > 0, true, 'which gets it') from made;

select * from finish();
rollback;
