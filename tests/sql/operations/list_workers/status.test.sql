-- list_workers() shows the workers of all hosts by what each said in its last call.
begin;
\ir ../../_helpers.sql
select plan(16);

select time_is(now());
create function says(p_host text, p_in_flight integer, p_delivered integer default 0) returns jsonb language sql as $$
  select jsonb_build_object('oldest', 1, 'newest', 1, 'worker', jsonb_build_object(
    'host', p_host, 'pid', 7, 'version', '1.2.3', 'in_flight', p_in_flight, 'delivered', p_delivered))
$$;
create function call(p_run integer, p_says jsonb, p_ended boolean default false, p_kind text default 'worker') returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-0000000000a' || p_run)::uuid, nextval('helper.seq'), '[]', 0, p_kind,
    p_ended, p_contract => p_says)::jsonb
$$;
create function listed(p_member text) returns text language sql as $$
  select string_agg(coalesce(w ->> p_member, '-'), ' ') from jsonb_array_elements(outbox.list_workers() -> 'workers') w
$$;

select is(outbox.list_workers() -> 'workers', '[]'::jsonb, 'without a worker the list is empty');
do $$ begin perform call(1, says('b', 3, 40)), call(2, says('a', 0)), call(3, says('e', 0), p_kind => 'edge'); end $$;
select is(listed('host'), 'a b', 'workers are sorted by host, and runs of the function are left out');
select is(
  outbox.list_workers() -> 'workers' -> 1,
  jsonb_build_object('run', '00000000-0000-7000-8000-0000000000a1', 'host', 'b', 'pid', '7', 'version', '1.2.3',
    'contracts', '{"oldest": 1, "newest": 1}'::jsonb, 'started_at', outbox.iso_time(outbox.clock()),
    'seen_at', outbox.iso_time(outbox.clock()), 'in_flight', 3, 'delivered', 40, 'status', 'live'),
  'each with what it said');
select is(outbox.list_workers() - 'workers', jsonb_build_object('at', outbox.iso_time(outbox.clock()), 'contracts', outbox.contracts(),
  'problems', jsonb_build_array()), 'and the contracts of the database');

select time_passes('1 s');
do $$ begin perform call(1, says('b', 5, 50)); end $$;
select is(listed('in_flight') || ', ' || listed('delivered'), '0 5, 0 50', 'a later call replaces it');
do $$ begin perform call(4, '{"oldest": 1, "newest": 1}'); end $$;
select is(listed('host'), 'a b -', 'a worker of an older version has no host');

do $$ begin perform call(1, says('b', 5), true), call(4, '{"oldest": 1, "newest": 1}', true); end $$;
select is(listed('host') || ', ' || listed('status'), 'a b, live draining', 'a worker that ends is shown while requests are in flight');
select time_passes('89 s');
select is(listed('status'), 'silent draining', 'for as long as a response may take; one that has not called is silent');
select time_passes('1 s');
select is(listed('host'), 'a', 'then it was killed');
do $$ begin perform call(2, says('a', 0), true); end $$;
select is(listed('host'), null, 'a worker that has finished is not shown');

-- What cannot be read.
do $$ begin perform call(5, '{"oldest": 1, "newest": 1, "worker": {"host": 5, "pid": {}, "in_flight": -1, "delivered": "x"}}'); end $$;
select is(outbox.list_workers() -> 'workers' -> 0 -> 'in_flight', 'null'::jsonb, 'a number that is none is null');
select is(listed('host'), '5', 'and the rest is shown');
do $$ begin perform call(6, '{"oldest": 1, "newest": 1, "worker": "x"}'); end $$;
select is((select worker from outbox.run where id::text like '%a6'), null, 'and a worker that says no object has said nothing');

-- Why others get nothing.
do $$ begin perform call(7, '{"oldest": 7, "newest": 8}'); end $$;
select alike(outbox.list_workers() ->> 'problems', '%kind worker was refused%update the database%', 'a refused worker is a problem');
select is(listed('host'), '5 -', 'and no row');
do $$ begin perform outbox.set_setting('worker.enabled', 'false'); end $$;
select alike(outbox.list_workers() ->> 'problems', '%delivery is switched off%', 'so is the switch');
select * from finish();
rollback;
