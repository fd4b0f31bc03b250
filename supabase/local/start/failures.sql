-- One row for each attempt, or for the end of the delivery without one.
select distinct on (a.attempt)
  a.attempt, a.at, a.outcome, a.status, a.error_class, a.error, h.hint, a.response
from outbox.attempt a
left join outbox.error_hint h using (error_class)
where a.event_id = :'event_id' and a.endpoint_id = :'endpoint_id'
order by a.attempt, a.kind;
