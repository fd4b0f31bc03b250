-- What a change through the API leaves as it was, and whom it refuses.
begin;
\ir ../../_helpers.sql
select plan(20);

create temporary table ours as
select (outbox.create_org_endpoint('org-one', '{
  "url": "https://example.com/one", "eventTypes": ["a.*", "b"], "filter": "$.n ? (@ > 1)", "description": "One",
  "retry": {"strategy": "exponential", "baseDelay": 2, "maxDelay": 9, "maxRetries": 3},
  "breaker": {"enabled": false}, "ratePerSecond": 7, "rateBurst": 3, "retry4xx": true
}') ->> 'id')::uuid as id;

select is(e.retry, '{"strategy": "exponential", "base_delay": 2, "max_delay": 9, "max_retries": 3}', 'the policy is stored with the names of SQL')
from outbox.endpoint e join ours using (id);
select is(
  row(e.breaker_enabled, e.breaker_threshold, e.rate_per_second, e.rate_burst, e.retry_4xx, e.description, e.version)::text, '(f,5,7,3,t,One,1)',
  'every member is stored') from outbox.endpoint e join ours using (id);

select time_passes('1 hour');
select lives_ok($$ select outbox.update_org_endpoint('org-one', id, '{"eventTypes": ["b", "c"]}', 1) from ours $$, 'a change at the version that was read');
select is(
  array(select s.pattern || ' ' || s.filter_text || ' ' || (s.created_at = outbox.clock()) from outbox.subscription s join ours o on o.id = s.endpoint_id order by 1),
  array['b $.n ? (@ > 1) false', 'c $.n ? (@ > 1) true'], 'a type that stays is as old as it was, a new one has the filter');
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L, 1)', 'org-one', id, '{"quantum": 2}')),
  format('OH008 endpoint %s has version 2, not 1: it was changed in the meantime', id), 'the second of two editors is refused') from ours;
select is(e.quantum, 25, 'and changes nothing') from outbox.endpoint e join ours using (id);
select is(
  (select outbox.update_org_endpoint('org-one', id, '{"filter": null, "ratePerSecond": null}') from ours) - array['id', 'createdAt', 'updatedAt', 'url'],
  '{"kind": "webhook", "broker": null, "config": null, "description": "One", "eventTypes": ["b", "c"], "filter": null, "headerNames": [], "payload": "envelope", "timeoutMs": 15000,
    "ordering": "none", "maxInFlight": 50, "quantum": 25, "ratePerSecond": null, "rateBurst": 3, "retry4xx": true, "onDeadLetter": "continue",
    "retry": {"strategy": "exponential", "baseDelay": 2, "maxDelay": 9, "maxRetries": 3}, "retryPreset": false,
    "breaker": {"enabled": false, "threshold": 5, "openMs": 30000, "status": null}, "status": "enabled", "statusReason": null, "version": 3}',
  'null takes a filter and a rate away, and the rest stays');

select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'org-one', id, c.change)), 'OH001 ' || c.problem, 'refused: ' || c.change)
from ours, (values
  ('{"timeoutMs": 1}', 'timeoutMs is 1'), ('{"breaker": {"openMs": 1}}', 'breaker.openMs is 1'), ('{"payload": "x"}', 'payload is ''x'''),
  ('{"eventTypes": ["a b"]}', 'event_types contains ''a b''')) c (change, problem);
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'org-one', id, c.change)),
  format('OH004 endpoint %s has no %s', id, c.problem), 'not of this kind: ' || c.change)
from ours, (values
  ('{"broker": {}}', 'broker'), ('{"config": {}}', 'config'), ('{"credentials": {}}', 'credentials'),
  ('{"config": {}, "broker": {}, "quantum": 3}', 'broker and no config')) c (change, problem);
select is((select outbox.set_retry_config('org-one', id) -> 'policy' from ours),
  '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "maxRetries": 5, "jitter": true}', 'without a policy the preset is back');

select is((select e -> 'retry' || jsonb_build_object('preset', e -> 'retryPreset') from ours, outbox.get_org_endpoint('org-one', id) e),
  '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "maxRetries": 5, "jitter": true, "preset": true}', 'and an endpoint shows the preset of its kind');

-- A repeat of a creation has the secret of the first response, never a later one.
create temporary table made as select outbox.create_org_endpoint('org-one', '{"url": "https://example.com/again"}', 'again') as first;
select is(outbox.create_org_endpoint('org-one', '{"url": "https://example.com/again"}', 'again'), first, 'a repeat has the same secret') from made;
select time_passes('1 min'), outbox.rotate_secret((first ->> 'id')::uuid) from made;
select is(outbox.create_org_endpoint('org-one', '{"url": "https://example.com/again"}', 'again') -> 'id', first -> 'id', 'also after a rotation the endpoint is the same') from made;
select is(outbox.create_org_endpoint('org-one', '{"url": "https://example.com/again"}', 'again') ? 'secret', false, 'but the new secret is not shown');

select * from finish();
rollback;
