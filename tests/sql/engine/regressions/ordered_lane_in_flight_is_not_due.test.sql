begin;
\ir ../../_helpers.sql
select plan(2);

-- An operator makes an ordered delivery due while the one before it is being sent, or lets a halted lane go
-- on whose batch is still out: the gate must not stand first in the ring with nothing to give.
select endpoint('{*}', 'endpoint', p_quantum => 1) as ordered, endpoint('{none}', 'endpoint', p_retry => plain_retry(0)) as halting \gset
update outbox.endpoint set on_dead_letter = 'halt' where id = :'halting';

select (events(2))[2] as second \gset
do $$ begin perform step(); end $$;
do $$ begin perform outbox.retry_now(d.event_id, d.endpoint_id) from outbox.delivery d where d.leased_until is null; end $$;
select is(claimed(step()), 0, 'nothing can be claimed behind a delivery that is being sent')
  from (select time_passes('1 s')) t;
select events(2, 'order', p_endpoint_id => :'halting');
create temporary table given as select step() as answer;
do $$ begin perform step(100, jsonb_build_array(results(answer, 'failed', '{"status": 404}') -> 0)) from given; end $$;
select outbox.resume_lane(:'halting');
do $$ begin perform step(); end $$;
select is(array(select g.endpoint_id from outbox.gate g where g.next_at <= outbox.clock()), '{}', 'no gate is due that has nothing to give');

select * from finish();
rollback;
