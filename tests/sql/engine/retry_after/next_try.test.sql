-- The next try after a 429 or 503 is due at the later of the schedule and the hint, to the second.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(34);

-- One endpoint and one event a case; the schedule's first delay is 5 s.
create temporary table asked (status integer, header text, wait interval, endpoint_id uuid default endpoint(p_retry =>
  '{"strategy": "schedule", "delays": [5, 60], "jitter": false}'), event_id uuid);
insert into asked (status, header, wait) values
  (429, '30', '30 s'), (503, '30', '30 s'), (429, '2', '5 s'), (503, '4.999', '5 s'), (429, '5.5', '5.5 s'),
  (429, '7200', '1 h'), (503, '999999999999', '1 h'), (429, 'Sun, 01 Mar 2026 12:02:00 GMT', '2 min'), (503, 'Sun, 01 Mar 2026 11:00:00 GMT', '5 s'),
  (429, '-10', '5 s'), (503, 'later', '5 s'), (429, '', '5 s'), (503, null, '5 s'),
  -- No other status asks for quiet.
  (500, '30', '5 s'), (502, '30', '5 s'), (408, '30', '5 s'), (301, '30', '5 s');
update asked set event_id = (events(1, p_endpoint_id => endpoint_id))[1] where true;
create temporary table answer as select step() as a;
select step(0, (
  select jsonb_agg(r || jsonb_build_object('status', c.status, 'retry_after', c.header))
  from answer, jsonb_array_elements(results(a, 'failed')) r join asked c on c.event_id::text = r ->> 'event'));

select is(d.due_at, '2026-03-01 12:00:00+00'::timestamptz + c.wait,
  format('after %s with Retry-After %s the delivery is due in %s', c.status, coalesce(quote_literal(c.header), 'missing'), c.wait))
from asked c join outbox.delivery d using (event_id, endpoint_id);
select is(t.next_retry_at, '2026-03-01 12:00:00+00'::timestamptz + c.wait,
  format('the attempt of %s with Retry-After %s says so', c.status, coalesce(quote_literal(c.header), 'missing')))
from asked c join outbox.attempt t using (event_id, endpoint_id);

select * from finish();
rollback;
