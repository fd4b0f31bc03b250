-- Rows that no status allows are refused by the tables themselves, by names that read as sentences.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select step(0);
select is(split_part(refusal(c.statement), ' (', 1), '23514 new row for relation "' || c.relation || '" violates check constraint "' || c.name || '"', c.name)
from (values
  ('gate', 'gate_in_flight_is_not_negative', 'update outbox.gate set in_flight = -1 where true'),
  ('gate', 'gate_depth_is_not_negative', 'update outbox.gate set depth = -1 where true'),
  ('gate', 'gate_breaker_is_known', 'update outbox.gate set breaker = ''broken'' where true'),
  ('gate', 'gate_has_a_probe_when_half_open', 'update outbox.gate set breaker = ''half_open'' where true'),
  ('gate', 'gate_has_a_probe_when_half_open', 'update outbox.gate set probe_event = gen_random_uuid(), probe_attempt = 1 where true'),
  ('lane', 'lane_leased_is_not_negative', 'update outbox.lane set leased = -1 where true'),
  ('lane', 'lane_depth_is_not_negative', 'update outbox.lane set depth = -1 where true'),
  ('endpoint', 'endpoint_status_is_known', 'update outbox.endpoint set status = ''sleepy'' where true'),
  ('endpoint', 'endpoint_ordering_is_known', 'update outbox.endpoint set ordering = ''random'' where true'),
  ('endpoint', 'endpoint_on_dead_letter_is_known', 'update outbox.endpoint set on_dead_letter = ''panic'' where true'),
  ('endpoint', 'endpoint_timeout_is_sensible', 'update outbox.endpoint set timeout_ms = 60001 where true'),
  ('endpoint', 'endpoint_breaker_threshold_is_positive', 'update outbox.endpoint set breaker_threshold = 0 where true'),
  ('endpoint', 'endpoint_breaker_open_is_sensible', 'update outbox.endpoint set breaker_open_ms = 999 where true'),
  ('endpoint', 'endpoint_rate_is_positive', 'update outbox.endpoint set rate_per_second = 0 where true'),
  ('endpoint', 'endpoint_burst_is_positive', 'update outbox.endpoint set rate_burst = 0 where true'),
  ('replay_job', 'replay_job_source_is_known', 'insert into outbox.replay_job (failed_to, rate_per_second, source, created_at) values (now(), 1, ''lost'', now())'),
  ('replay_job', 'replay_job_status_is_known', 'insert into outbox.replay_job (failed_to, rate_per_second, status, created_at) values (now(), 1, ''lost'', now())')
) c (relation, name, statement);
select ok(refusal($$insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome) select event.id, made.id, 1, outbox.clock(), 'attempt', 'pending' from event, made$$)
  like '23514 % violates check constraint "attempt_outcome_is_known"%', 'an attempt of an open status is none');
select ok(refusal($$insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome) select event.id, made.id, 1, outbox.clock(), 'note', 'failed' from event, made$$)
  like '23514 % violates check constraint "attempt_kind_is_known"%', 'nor one of another kind');
select ok(refusal('insert into outbox.delivery select * from outbox.delivery') like '23505 duplicate key value%', 'a delivery is there once');
select is_empty('select * from miscounts()', 'nothing of it was stored');

select * from finish();
rollback;
