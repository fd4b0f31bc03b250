-- min_delay_s: the retry waits for it at least, and with throttle so does the whole endpoint.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

insert into outbox.failure_rule (kind, code, action, min_delay_s, title) values
  ('*', '520', 'retry', 120, 'slow to mend'), ('*', '521', 'retry', 0.5, 'quick to mend'), ('*', '522', 'throttle', 40, 'too much');
create temporary table made (code text, id uuid default endpoint(p_breaker => true), event uuid);
insert into made (code) values ('520'), ('521'), ('522'), ('522 with a hint');
update made set event = (events(1, p_endpoint_id => id))[1] where true;
create temporary table answer as select step() as a;
select step(0, results_of(a, id, 'failed', case code when '522 with a hint' then '{"status": 522, "retry_after": "50"}'
  else jsonb_build_object('status', code::integer) end)) from answer, made;

select is(a.next_retry_at - a.at, c.wait::interval, c.what)
from (values
  ('520', '120 s', 'a retry waits for min_delay_s when the schedule is shorter'),
  ('521', '1 s', 'and for the schedule when that is longer'),
  ('522', '40 s', 'throttle waits for min_delay_s without a hint'),
  ('522 with a hint', '50 s', 'and for a longer hint')) c (code, wait, what)
join made m using (code) join outbox.attempt a on a.event_id = m.event;
select is((gate_of(m.id)).not_before, case when c.wait is null then '-infinity' else '2026-03-01 12:00:00+00'::timestamptz + c.wait::interval end,
  format('%s holds the whole endpoint: %s', m.code, coalesce(c.wait, 'no')))
from (values ('520', null), ('521', null), ('522', '40 s'), ('522 with a hint', '50 s')) c (code, wait) join made m using (code);
select is((gate_of(m.id)).streak, case when m.code like '522%' then 0 else 1 end, m.code || ' counts for the breaker unless it throttles')
from made m where m.code in ('520', '522') order by m.code;

select * from finish();
rollback;
