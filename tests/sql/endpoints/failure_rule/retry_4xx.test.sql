-- An endpoint may choose to have every 4xx retried, 410 apart.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made (retry_4xx boolean, status integer, state text, id uuid default endpoint(), event uuid);
insert into made (retry_4xx, status, state) values
  (false, 400, 'dead_letter'), (false, 404, 'dead_letter'), (false, 499, 'dead_letter'), (false, 408, 'retrying'), (false, 425, 'retrying'),
  (false, 429, 'retrying'), (false, 410, 'held'),
  (true, 400, 'retrying'), (true, 401, 'retrying'), (true, 404, 'retrying'), (true, 422, 'retrying'), (true, 499, 'retrying'), (true, 410, 'held');
update outbox.endpoint e set retry_4xx = m.retry_4xx from made m where e.id = m.id;
update made set event = (events(1, p_endpoint_id => id))[1] where true;
create temporary table answer as select step() as a;
select step(0, results_of(a, id, 'failed', jsonb_build_object('status', status))) from answer, made;
select is(status_of(event, id), state, format('%s with retry_4xx %s ends as %s', status, retry_4xx, state)) from made;

-- Its budget ends all the same; and an address that is not allowed is no 4xx.
create temporary table one as select endpoint(p_retry => plain_retry(1)) as id;
update outbox.endpoint e set retry_4xx = true from one where e.id = one.id;
create temporary table event as select events(2, p_endpoint_id => id) as ids from one;
update answer set a = step() where true;
select step(0, jsonb_build_array(
  (results_of(a, id, 'failed') -> 0) || '{"status": 404}', (results_of(a, id, 'failed') -> 1) || '{"error_class": "blocked"}')) from answer, one;
select time_passes('1 s');
select fail(404);
select results_eq('select event_id, why, retry_count from outbox.dead_letter join one on one.id = endpoint_id order by event_id',
  'select ids[1], ''retries_exhausted'', 2 from event union all select ids[2], ''not_retryable'', 1 from event',
  'a retried 4xx is out of retries like any other failure, and a blocked address is not retried');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
