begin;
\ir ../../_helpers.sql
select plan(1);

-- The lane had waited for a retry, and by the clock that was set back it still does: empty, it waits for nothing,
-- and nobody would come back to remove it.
do $$
begin
  perform endpoint('{*}', 'partition', p_retry => '{"strategy": "fixed", "base_delay": 0}'), events(1, p_key => 'k');
  perform step(0, results(step(), 'failed', '{"status": 500}'));
end $$;
create temporary table given as select step() as answer;
do $$ begin perform time_passes('-2 ms'), step(0, results(answer, 'delivered')) from given; end $$;
select is_empty('select from outbox.lane', 'the lane goes with its last delivery');

select * from finish();
rollback;
