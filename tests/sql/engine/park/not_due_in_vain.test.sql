-- Whatever keeps an endpoint from being served, its gate leaves the front of the ring until then.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

create temporary table waits as select endpoint('{a}') as id;
select events(2, 'a');
select fail(503, '{"retry_after": "30"}');
select is((gate_of(id)).next_at, '2026-03-01 12:00:30+00'::timestamptz, 'what asked for time is looked at when it is over') from waits;

create temporary table breaks as select endpoint('{b}', p_breaker => true) as id;
select events(6, 'b');
select send('failed', '{"status": 500}', 5);
select is(breaker_of(id), 'open', 'five failures open the breaker') from breaks;
select is((gate_of(id)).next_at, (gate_of(id)).open_until, 'it is looked at when a probe may go') from breaks;
select is(claimed(step()), 0, 'and nothing is due before');

select * from finish();
rollback;
