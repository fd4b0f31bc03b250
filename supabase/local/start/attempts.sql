select attempt, at, outcome, status, error_class, duration_ms, response
from outbox.attempt
where event_id = :'event_id' and endpoint_id = :'endpoint_id' and kind = 'attempt'
order by attempt;
