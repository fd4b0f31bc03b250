-- Counters are added up although no tick is in the first second of a minute, as with pg_cron before 1.5.
-- Only then does fold_counters() read the rows that took long to commit.
begin;
\ir ../../_helpers.sql
select plan(4);
-- It locks the sequence, which the tick of pg_cron moves each second, also for this transaction.
alter sequence outbox.last_tick_second cache 1;

create function counted_at(p_at text) returns bigint language plpgsql as $$
begin
  perform time_is(('2026-03-01 ' || p_at)::timestamptz), outbox.count_up('test', '{a}');
  perform outbox.tick();
  return (select n from outbox.counter where metric = 'test');
end
$$;
select is(counted_at('12:00:50 UTC'), 1::bigint, 'every ten seconds, counters are added up');
select is(counted_at('12:00:59 UTC'), 1::bigint, 'not in between');
select is(counted_at('12:01:01 UTC'), 3::bigint, 'in the first tick after ten seconds, also if it is later than their second');
select is(counted_at('12:01:02 UTC'), 3::bigint, 'once');

select * from finish();
rollback;
