-- Modules: messages
-- decide_copy(): a copy stays stopped, or becomes a project of its own with or without what was pending.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(66);

create sequence numbers;
create function called(p_project text, p_kind text default 'worker', p_limit integer default 100) returns jsonb language sql as $$
  select outbox.dispatch(case p_project when 'shop' then '00000000-0000-7000-8000-0000000000a1' else '00000000-0000-7000-8000-0000000000a2' end::uuid,
    nextval('numbers'), '[]', p_limit, p_kind, p_contract => jsonb_strip_nulls(jsonb_build_object('oldest', 1, 'newest', 1, 'project', p_project)))::jsonb
$$;
create function changes() returns setof text language sql as $$
  select concat_ws(' ', action, project, database, 'was ' || was_project, was_database, 'by ' || by, nullif(result, '{}')) from outbox.binding_change order by id
$$;
do $$ begin perform set_config('outbox.database_id', '1/5', true); end $$;

-- There is nothing to decide.
select is(refusal($$select outbox.decide_copy('deliver_pending')$$), 'OH004 the outbox belongs to no project yet', 'an outbox that is not bound has no copy');
do $$ begin perform called('shop'); end $$;
select is(refusal($$select outbox.decide_copy('deliver_pending')$$), 'OH004 no run of another project was refused', 'without a refused run the project must be named');
select is(refusal($$select outbox.decide_copy('stay_stopped')$$), 'OH004 no run of another project was refused', 'also to stay stopped');
select is(refusal(format('select outbox.decide_copy(%L, %L)', d, 'https://SHOP/')), 'OH001 project is the project to which this database belongs', d || ' for the same project is refused')
from unnest('{stay_stopped,cancel_pending,deliver_pending}'::text[]) d;
select is(refusal($$select outbox.decide_copy('resume', 'staging')$$), 'OH001 decision is ''resume''', 'there are three decisions');
select is(refusal($$select outbox.decide_copy(null)$$), 'OH001 decision is NULL', 'and one is needed');
select is((select count(*)::integer from outbox.binding_change), 1, 'none of this is recorded');

-- What is pending: leased, in a lane, for later, in retry, not routed, set aside, held, a probe, a replay job.
create temporary table ids as select
  endpoint(array['free']) as free, endpoint(array['lanes'], 'partition') as lanes, endpoint(array['held']) as held,
  endpoint(array['dead'], p_retry => plain_retry(0)) as dead,
  endpoint(array['gone']) as gone;
grant select on ids to public;
do $$ begin
  perform events(1, 'dead');
  perform fail();
  perform events(3, 'free'), events(4, 'lanes', 'a'), events(2, 'lanes', 'b'), events(1, 'held'), events(1, 'gone'), outbox.publish('free', '{}', p_deliver_at => outbox.clock() + interval '1 day');
  perform called('shop', p_limit => 0);
  perform called('shop', p_limit => 4);
  perform outbox.pause_endpoint(held) from ids;
  perform outbox.delete_endpoint(gone) from ids;
  perform outbox.replay_many(), events(5, 'free');
end $$;
create temporary table pending as select count(*)::integer as open, (select count(*)::integer from outbox.unrouted) as unrouted,
  count(*) filter (where leased_until is not null)::integer as leased from outbox.delivery;
select cmp_ok(unrouted, '>=', 5, 'some events are not routed') from pending;
select cmp_ok(leased, '>', 0, 'some deliveries are in flight') from pending;
update outbox.gate set breaker = 'half_open', probe_event = (select event_id from outbox.delivery limit 1), probe_attempt = 1 where endpoint_id = (select lanes from ids);
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
select event_id, endpoint_id, 'result', 3, '23514', 'no', outbox.clock(), 'infinity' from outbox.delivery where endpoint_id = (select lanes from ids) limit 1;

-- A copy of it.
do $$ begin perform set_config('outbox.database_id', '2/6', true); end $$;
select is(called('Staging') ->> 'stop', 'another_project', 'a run on the copy is refused');

-- 1: it stays stopped.
select is(outbox.decide_copy('stay_stopped'), '{"decision": "stay_stopped", "project": "staging", "was_project": "shop"}', 'the copy stays stopped');
select is((select r from changes() r order by r like 'stay%' desc limit 1), 'stay_stopped shop 1/5 was shop 1/5 by ' || session_user, 'which is recorded');
select is(called('staging') ->> 'stop', 'another_project', 'its runs are still refused');
select is(outbox.binding_problem(outbox.clock()), 'this database is a copy of the project shop and stays stopped, as decided at 2026-03-01T12:00:00.000Z (runbook: A copy)', 'and health says so');
do $$ begin perform outbox.configure('https://staging.example.com/functions/v1', repeat('s', 40)), called('staging', 'edge'), time_passes('59 minutes'); end $$;
select is(outbox.kick('tick'), false, 'it sends no kick');
select alike(outbox.binding_problem(outbox.clock()), '%stays stopped%', 'health says so without a run');
do $$ begin perform time_passes('1 minute'); end $$;
select is(outbox.kick('tick'), true, 'but one an hour');
select is((select (count(*), (select count(*) from outbox.unrouted))::text from outbox.delivery), (open, unrouted)::text, 'nothing was changed') from pending;

-- 2: it becomes a project, and what was pending is cancelled.
do $$ begin perform called('staging', 'edge'); end $$;
savepoint undecided;
create temporary table decided as select outbox.decide_copy('cancel_pending') as d;
select is(d - 'cancelled', '{"decision": "cancel_pending", "project": "staging", "was_project": "shop", "more": false}', 'the copy becomes the project of the refused run') from decided;
select is(d -> 'cancelled' -> 'replay_jobs', '1', 'the replay job is cancelled') from decided;
select cmp_ok((d -> 'cancelled' ->> 'deliveries')::integer, '>=', open + 5, 'all open deliveries are, and those of unrouted events') from decided, pending;
select is((select count(*)::integer from outbox.attempt where kind = 'close' and outcome = 'cancelled' and error = 'the database is a copy of the project shop'), (d -> 'cancelled' ->> 'deliveries')::integer, 'each has a recorded end') from decided;
select is_empty('select from outbox.delivery', 'nothing is open');
select is_empty('select from outbox.unrouted', 'nothing is unrouted');
select is_empty('select from outbox.refusal', 'nothing is set aside');
select is_empty('select * from miscounts()', 'the counters are exact');
select is_empty('select * from asleep()', 'no gate sleeps');
select is((select breaker from outbox.gate where endpoint_id = (select lanes from ids)), 'open', 'a breaker does not wait for a probe that was cancelled');
select results_eq('select project, database, named_by, stopped_project from outbox.binding', $$values ('staging', '2/6', 'person', null::text)$$, 'the outbox is bound to the new project and its database');
select is((select array_agg(c) from changes() c where c like 'cancel_pending%'), array[format('cancel_pending staging 2/6 was shop 1/5 by %s %s', session_user, (select jsonb_build_object('cancelled', d -> 'cancelled', 'more', false) from decided))], 'which is recorded');
select is(outbox.binding_problem(outbox.clock()), null, 'health is good');
select is((select jsonb_array_length(called('staging') -> 'deliveries')), 0, 'a run of the project gets nothing old');
select is((select count(*)::integer from outbox.dead_letter where replayed_at is null), 1, 'dead letters stay, for a person');
do $$ begin perform events(1, 'free'), events(1, 'lanes', 'a'); end $$;
select is((select jsonb_array_length(called('staging') -> 'deliveries')), 2, 'and what is published from now on');
select is_empty('select * from miscounts()', 'with exact counters');
select is(called('shop') ->> 'stop', 'another_project', 'the original project is the other one now');
rollback to undecided;

-- The same in pieces, as with a backlog for which the time of one statement is too short.
create or replace function outbox.job_deadline() returns timestamptz language sql stable as $$ select clock_timestamp() $$;
create temporary table piece (n serial, d jsonb);
insert into piece (d) select outbox.decide_copy('cancel_pending');
select is(d - 'cancelled', '{"decision": "cancel_pending", "project": "staging", "was_project": "shop", "more": true}', 'a call that has no time left says that there is more') from piece;
select is(d -> 'cancelled' ->> 'deliveries', '0', 'it has only routed') from piece;
select is(called('staging') ->> 'stop', 'another_project', 'until the last piece a run of the new project is refused');
select is((select project from outbox.binding), 'shop', 'and the outbox is not bound to it');
do $$
begin
  for i in 1..20 loop
    exit when (select not (d -> 'more')::boolean from piece order by n desc limit 1);
    insert into piece (d) select outbox.decide_copy('cancel_pending');
  end loop;
end
$$;
select is((select (d -> 'more')::text from piece order by n desc limit 1), 'false', 'the same call continues, to the end');
select cmp_ok((select count(*) from piece where (d -> 'cancelled' ->> 'deliveries')::integer > 0), '>', 1::bigint, 'each cancels the deliveries of one endpoint');
select is((select sum((d -> 'cancelled' ->> 'deliveries')::integer)::integer from piece), (select count(*)::integer from outbox.attempt where kind = 'close' and outcome = 'cancelled'), 'each delivery is cancelled once');
select is((select sum((d -> 'cancelled' ->> 'replay_jobs')::integer)::integer from piece), 1, 'the replay job too');
select is((select (count(*), (select count(*) from outbox.unrouted))::text from outbox.delivery), '(0,0)', 'nothing is left');
select is_empty('select * from miscounts()', 'the counters are exact');
select is((select project from outbox.binding), 'staging', 'and the copy is the new project');
select is((select count(*)::integer from outbox.binding_change where action = 'cancel_pending'), (select count(*)::integer from piece), 'each piece is recorded');
rollback to undecided;

-- 3: it becomes a project, and what was pending is delivered.
-- The test has sent its kick already.
do $$ begin perform setval('outbox.last_kick', 0), set_config('outbox.kicked', '', true); end $$;
create temporary table queued as select count(*) as n from net.http_request_queue;
select is(outbox.decide_copy('deliver_pending'), '{"decision": "deliver_pending", "project": "staging", "was_project": "shop"}', 'the copy becomes the project of the refused run');
select is((select count(*) from net.http_request_queue), n + 1, 'and a kick is sent') from queued;
select is((select array_agg(c) from changes() c where c like 'deliver_pending%'), array['deliver_pending staging 2/6 was shop 1/5 by ' || session_user], 'which is recorded');
select is((select (count(*), (select count(*) from outbox.unrouted))::text from outbox.delivery), (open, unrouted)::text, 'all is still open') from pending;
select cmp_ok((select jsonb_array_length(called('staging') -> 'deliveries')), '>', 3, 'a run gets it');
select is_empty('select from outbox.binding_refusal', 'no refusal is left');

-- A project by its name, before any run.
select is(outbox.decide_copy('deliver_pending', 'https://abcdefghijklmnopqrst.supabase.co') ->> 'project', 'abcdefghijklmnopqrst', 'a project can be named');
select is(outbox.decide_copy('stay_stopped', 'other') ->> 'project', 'other', 'also one that stays out');
select is(outbox.decide_copy('deliver_pending', 'again') ->> 'was_project', 'abcdefghijklmnopqrst', 'a decision can be changed');
-- A physical copy knows only that its kicks are refused.
do $$ begin perform outbox.refuse_project(null, 'edge', 'foreign_kick', null, outbox.clock()); end $$;
select alike(outbox.binding_problem(outbox.clock()), 'this database is a copy: the function at the configured URL works on another database%', 'a copy by its kicks');
select is(outbox.kick('tick'), false, 'sends few of them');
select is(refusal($$select outbox.decide_copy('cancel_pending')$$), 'OH004 no run of another project was refused', 'and cannot be taken over without a name');
select is(outbox.decide_copy('stay_stopped'), '{"decision": "stay_stopped", "project": "", "was_project": "again"}', 'but can stay stopped');
do $$ begin perform time_passes('59 minutes'); end $$;
select is(outbox.kick('tick'), false, 'with a kick an hour');
select alike(outbox.binding_problem(outbox.clock()), '%copy of the project again and stays stopped%', 'which health says');
-- On the original nothing of this counts: its own runs deliver.
do $$ begin perform called('again'); end $$;
select is(outbox.binding_problem(outbox.clock()), null, 'a run of its own project ends it');

select * from finish();
rollback;
