-- A failure that will not pass by itself ends the delivery at once.
begin;
\ir ../../_helpers.sql
select plan(12);

create temporary table ours as select endpoint() as id;
create function ended(p_result jsonb) returns text language plpgsql as $$
declare
  v_event uuid := outbox.publish('a', '{}');
begin
  perform time_passes('1 ms');
  perform step(0, results(step(), 'failed', p_result));
  return coalesce((select d.why || '/' || d.retry_count || '/' || d.error from outbox.dead_letter d where d.event_id = v_event),
    (select 'retry/' || d.failed_attempts from outbox.delivery d where d.event_id = v_event));
end
$$;
select is(ended(c.result::jsonb), c.expected, 'a failure ' || c.result || ' ends as ' || c.expected)
from (values
  ('{"status": 404, "error_class": "status", "error": "Gone fishing"}', 'not_retryable/1/Gone fishing'),
  ('{"status": 400}', 'not_retryable/1/failed'),
  ('{"error_class": "blocked", "error": "10.0.0.1 is not public"}', 'not_retryable/1/10.0.0.1 is not public'),
  ('{"status": 422, "error_class": "status"}', 'not_retryable/1/status'),
  ('{"status": 500}', 'retry/1'),
  ('{"status": 302}', 'retry/1'),
  ('{"error_class": "dns"}', 'retry/1'),
  ('{}', 'retry/1')
) c (result, expected);
select is((select count(*)::integer from outbox.attempt where kind = 'close' and outcome = 'dead_letter'), 4, 'each has its closing row');
select is((select max(attempt) from outbox.dead_letter), 1, 'and was tried once');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
