-- A commit notifies the workers only when all of them sleep, and a call of dispatch() says when that is.
begin;
\ir ../../_helpers.sql
select plan(28);
do $$ begin perform setval('outbox.workers_asleep', 0), setval('outbox.last_work', 0); end $$;

create function flag() returns bigint language sql volatile as $$ select last_value from outbox.workers_asleep $$;
-- One call of a worker that listens, unless p_contract says otherwise.
create function works(p_limit integer default 100, p_results jsonb default '[]', p_contract jsonb default '{"oldest": 1, "newest": 9, "listens": true}')
returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-000000000002', nextval('helper.seq'), p_results, p_limit, 'worker',
    p_contract => p_contract)::jsonb
$$;
create function publishes() returns boolean language plpgsql as $$
declare
  v_before bigint := flag();
begin
  perform set_config('outbox.kicked', '', true), outbox.publish('a', '{}');
  return flag() > 1 and flag() <> v_before;
end
$$;
select endpoint() as hook \gset

select is(publishes(), false, 'nobody sleeps before the first call');
create temporary table answers as select works() as first;
select is(flag(), 0::bigint, 'a call that found work makes nobody sleep');
create temporary table answers_2 as select works() as second;
select is(flag(), 0::bigint, 'nor does one that found nothing within 10 ms: another worker was faster');
do $$ begin perform helper.time_passes('11 ms'), works(); end $$;
select is(flag(), 1::bigint, 'a later one does');
select is(publishes(), true, 'then a publisher notifies');
select is(publishes(), false, 'and the next one does not');
do $$ begin perform helper.time_passes('5 ms'); end $$;
select is(publishes(), false, 'nor any other within 5 ms');
do $$ begin perform helper.time_passes('1 ms'); end $$;
select is(publishes(), true, 'then one does: the first may not commit');
do $$ begin perform helper.time_passes('-1 h'); end $$;
select is(publishes(), true, 'one does after the clock was set back');
create temporary table answers_3 as select works() as third;
select is(flag(), 0::bigint, 'the worker has found their events');
do $$ begin perform helper.time_passes('-1 h'), works(); end $$;
select is(flag(), 1::bigint, 'it sleeps also after the clock was set back');
do $$ begin perform setval('outbox.workers_asleep', 0), helper.time_passes('2 h'); end $$;
create temporary table answers_4 as select works(100, results(first, 'delivered')) from answers;
select is(flag(), 1::bigint, 'a call with results that found no other work makes it sleep too');
create temporary table answers_5 as select works(0, results(third, 'delivered')) from answers_3;
select is(flag(), 1::bigint, 'a call that asked for nothing changes nothing');

do $$ begin perform setval('outbox.workers_asleep', 0); end $$;
do $$ begin perform works(p_limit => 0); end $$;
select is(flag(), 0::bigint, 'a worker without free slots does not sleep');
do $$ begin perform works(p_contract => '{"oldest": 1, "newest": 9}'); end $$;
select is(flag(), 0::bigint, 'nor does one that does not listen');
do $$ begin perform works(p_contract => null); end $$;
select is(flag(), 0::bigint, 'nor one of the first contract');
do $$ begin perform outbox.set_setting('worker.enabled', 'false'), works(); end $$;
select is(flag(), 0::bigint, 'nor one that must stop');
do $$ begin perform outbox.set_setting('worker.enabled', 'true'), works(); end $$;
select is(flag(), 1::bigint, 'all the others do');

-- What keeps a sleeping worker from being notified.
do $$ begin perform outbox.set_setting('worker.notify', 'false'); end $$;
select is(publishes(), false, 'not with worker.notify off');
select is(flag(), 1::bigint, 'and the flag stays');
do $$ begin perform outbox.set_setting('worker.notify', 'true'), outbox.set_setting('kick.on_commit', 'false'); end $$;
select is(publishes(), true, 'kick.on_commit is about kicks alone');

do $$ begin perform works(), helper.time_passes('11 ms'), works(); end $$;
select is(flag(), 1::bigint, 'the worker sleeps again');
do $$ begin perform set_config('outbox.kicked', '', true), outbox.publish('a', '{}'), outbox.publish('a', '{}'); end $$;
do $$ begin perform setval('outbox.workers_asleep', 1), outbox.publish('a', '{}'); end $$;
select is(flag(), 1::bigint, 'a transaction notifies once');
select is(outbox.notify_workers(), true, 'notify_workers() says what it did');

-- An error of routing: the events wait, and a notification would only repeat it.
create or replace function outbox.read_unrouted() returns outbox.routing language plpgsql as $$
begin
  raise division_by_zero;
end
$$;
do $$ begin perform setval('outbox.workers_asleep', 0), helper.time_passes('1 s'); end $$;
create temporary table answers_6 as select works() as failed;
select isnt((select failed #>> '{error,route}' from answers_6), null, 'routing fails');
select is(flag(), 0::bigint, 'and the worker that could not route does not sleep');

select is(outbox.may_notify(0.5), true, 'half of the queue of notifications may be used');
select is(outbox.may_notify(0.51), false, 'and no more');

select * from finish();
rollback;
