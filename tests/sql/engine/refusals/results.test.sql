-- A result that the database refuses costs its own delivery: what is noted, when it is tried again, and when it is
-- set aside. An error that passes by itself is none.
begin;
\ir ../../_helpers.sql
select plan(35 + 3 * 15 + 2);

create function poison() returns trigger language plpgsql as $$
begin
  raise exception 'no such attempt';
end
$$;
create trigger poison before insert on outbox.attempt for each row when (new.response = 'POISON') execute function poison();
-- What a call reports: delivered, and of some events the attempt that is refused.
create function reported(p_answer jsonb, p_bad uuid[]) returns jsonb language sql as $$
  select jsonb_agg(r || case when (r ->> 'event')::uuid = any (p_bad) then '{"response": "POISON"}' else '{}'::jsonb end)
  from jsonb_array_elements(results(p_answer, 'delivered', '{"status": 200, "duration_ms": 1}')) r
$$;

select is(outbox.is_passing(code), passes, code || case when passes then ' passes by itself' else ' stays' end)
from (values ('08006', false), ('40P01', true), ('40001', true), ('53100', true), ('57014', true), ('57P01', true), ('25006', true), ('55006', true), ('55P03', true),
  ('22P02', false), ('23514', false), ('P0001', false), ('XX000', false), ('25001', false), ('55000', false)) c (code, passes);

-- Only the temporary errors that a row may cause are isolated, and only if the run requests it.
do $$ begin perform outbox.set_refusing(false); end $$;
select is(outbox.fails_call(code), passes, code || ': without isolating, each temporary error fails the call')
from (values ('08006', false), ('40P01', true), ('40001', true), ('53100', true), ('57014', true), ('57P01', true), ('25006', true), ('55006', true), ('55P03', true),
  ('22P02', false), ('23514', false), ('P0001', false), ('XX000', false), ('25001', false), ('55000', false)) c (code, passes);
do $$ begin perform outbox.set_refusing(true); end $$;
select is(outbox.fails_call(code), fails, code || case when fails then ' fails the call' else ' is isolated' end)
from (values ('08006', false), ('40P01', false), ('40001', false), ('53100', true), ('57014', false), ('57P01', true), ('25006', true), ('55006', false), ('55P03', false),
  ('22P02', false), ('23514', false), ('P0001', false), ('XX000', false), ('25001', false), ('55000', false)) c (code, fails);
select is(late.fails, code in ('53100', '57014', '57P01', '25006'), code || ' after 1 s')
from (select pg_sleep(1.01) offset 0) slept, unnest('{08006,40P01,40001,53100,57014,57P01,25006,55006,55P03,22P02,23514,P0001,XX000,25001,55000}'::text[]) code
cross join lateral (select outbox.fails_call(code) as fails) late;
select is(outbox.is_timeout('57014'), false, 'a statement that is cancelled at once is not timed out');
select is(is_timeout, true, 'one that is cancelled after 1 s is') from (select pg_sleep(1.01) offset 0) slept, outbox.is_timeout('57014');

create temporary table made as select endpoint() as id;
create temporary table event as select events(5) as ids;
create temporary table answer as select step() as a;
create temporary table said as select step(0, reported(a, ids[2:2])) as s from answer, event;
select is(s - '{settings,contracts,problem}'::text[] ->> 'applied', '4', 'of five results four are stored') from said;
select is(s ->> 'stale', '0', 'and the fifth is not stale') from said;
select is(s -> 'error', '{"results": "P0001 no such attempt"}', 'the answer says what was refused') from said;
select results_eq('select step, failures, sqlstate, error, at, again_at from outbox.refusal join event on event_id = ids[2]',
  $$values ('result', 1, 'P0001', 'no such attempt', outbox.clock(), outbox.clock() + interval '1 s')$$, 'it is noted, and is tried again as after a failure');
select results_eq('select leased_until, due_at, failed_attempts from outbox.delivery', $$values (null::timestamptz, outbox.clock() + interval '1 s', 0)$$, 'its delivery waits for that time');

-- Another result of the claim before this one changes nothing.
do $$ begin perform time_passes('1 s'); end $$;
create temporary table again as select step() as b;
do $$ begin perform step(0, reported(a, ids)) from answer, event; end $$;
select is((select count(*)::integer from outbox.delivery where leased_until is not null), 1, 'a refused result of an older claim does not end the lease');
select is((select failures from outbox.refusal), 1, 'and does not count');
do $$ begin perform step(0, results(a, 'delivered', '{"status": "odd"}')) from answer; end $$;
select is((select count(*)::integer from outbox.delivery where leased_until is not null), 1, 'nor does one that cannot be read');
select is((select failures from outbox.refusal), 1, 'and it does not count either');

do $$ begin perform step(0, reported(b, ids)) from again, event; end $$;
select results_eq('select failures, again_at - at from outbox.refusal', $$values (2, interval '5 s')$$, 'the second refusal waits longer');
do $$ begin perform time_passes('5 s'); end $$;
update again set b = step() where true;
do $$ begin perform step(0, reported(b, ids)) from again, event; end $$;
select results_eq('select failures, again_at from outbox.refusal', $$values (3, 'infinity'::timestamptz)$$, 'the third sets the delivery aside');
do $$ begin perform time_passes('1 day'); end $$;
select is(claimed(step()), 0, 'it is not sent again by itself');
select is((select count(*)::integer from outbox.lane where next_at < 'infinity'), 0, 'nor looked at');

-- A person says retry now: it begins anew.
do $$ begin perform outbox.retry_now(ids[2], id) from event, made; end $$;
select is_empty('select from outbox.refusal', 'retry_now() forgives it its refusals');
update again set b = step() where true;
do $$ begin perform step(0, reported(b, ids)) from again, event; end $$;
select is((select failures from outbox.refusal), 1, 'so that the next is its first');
do $$ begin perform time_passes('1 s'); end $$;
update again set b = step() where true;
select is(step(0, results(b, 'delivered')) ->> 'applied', '1', 'a result that is stored ends it') from again;
select is_empty('select from outbox.refusal', 'and what was noted goes with it');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'and nothing is asleep');

-- The error of the first of several refused and unreadable results.
create temporary table many as select events(3) as ids;
create temporary table claim as select step() as c;
select is(step(0, reported(jsonb_set(c, '{deliveries}', jsonb_build_array(c -> 'deliveries' -> 0)), ids)
    || results(jsonb_set(c, '{deliveries}', (c -> 'deliveries') - 0), 'delivered', '{"status": "odd"}')) -> 'error' ->> 'results',
  'P0001 no such attempt', 'the response has the first error') from claim, many;

select * from finish();
rollback;
