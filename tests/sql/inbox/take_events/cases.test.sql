-- Events of another database, each published once, with what the publisher said of them.
begin;
\ir ../../_helpers.sql
select plan(18);

create function pg_temp.event(p_id text, p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_build_object('id', p_id, 'type', 'order.paid', 'org_id', 'org-1', 'body', '{"n": 1.10}') || p_more
$$;

select is(
  outbox.take_events('into', jsonb_build_array(
    pg_temp.event('e-1', '{"partition_key": "k", "correlation_id": "c-1", "idempotency_key": "pay-1", "traceparent": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}'),
    pg_temp.event('e-2', '{"org_id": "org-2"}'))),
  '[{"outcome": "taken"}, {"outcome": "taken"}]', 'new events are taken');
select results_eq(
  $$select e.org_id, e.type, e.body, e.partition_key, e.correlation_id, e.idempotency_key, e.traceparent from outbox.event e order by e.id$$,
  $$values ('org-1', 'order.paid', '{"n": 1.10}', 'k', 'c-1', 'pay-1', '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'),
    ('org-2', 'order.paid', '{"n": 1.10}', null, null, null, null)$$, 'with all that their publisher said, the body byte for byte');
select is((select count(*) from outbox.unrouted), 2::bigint, 'and will be routed');
select is(
  outbox.take_events('into', jsonb_build_array(pg_temp.event('e-3'), pg_temp.event('e-1'), pg_temp.event('e-3'))),
  '[{"outcome": "taken"}, {"outcome": "known"}, {"outcome": "known"}]', 'each is taken once, also within one call');
select is(outbox.take_events('other', jsonb_build_array(pg_temp.event('e-1'))), '[{"outcome": "taken"}]', 'for each consumer');
select is((select count(*) from outbox.event), 4::bigint, 'four are stored');

select is(
  outbox.take_events('into', jsonb_build_array(
    pg_temp.event('f-1'), pg_temp.event('f-2', '{"type": "not a type"}'), pg_temp.event('e-2'), pg_temp.event('f-3'),
    pg_temp.event('f-4', '{"org_id": "outhook"}'), pg_temp.event('f-5', '{"body": "{"}'), pg_temp.event('f-1'))) #- '{1,error}' #- '{4,error}' #- '{5,error}',
  '[{"outcome": "taken"}, {"outcome": "refused"}, {"outcome": "known"}, {"outcome": "taken"}, {"outcome": "refused"}, {"outcome": "refused"}, {"outcome": "known"}]',
  'invalid events are refused, and no others');
select is((select count(*) from outbox.event), 6::bigint, 'two of them are stored');
select is(
  outbox.take_events('into', jsonb_build_array(pg_temp.event('f-2', '{"type": "not a type"}'))) #>> '{0,error}',
  'type is ''not a type''', 'with the reason, also the second time');
select is(outbox.take_events('into', jsonb_build_array(pg_temp.event('f-2'))), '[{"outcome": "taken"}]', 'and may come again');

select is(
  outbox.take_events('into', jsonb_build_array(pg_temp.event('g-1', '{"idempotency_key": "pay-1", "body": "{}"}'))),
  '[{"outcome": "taken"}]', 'an idempotency key that was used again is another event');
select outbox.take_events('into', (
  select jsonb_agg(pg_temp.event('h-' || n, jsonb_build_object('body', format('{"at": %s}', n))) order by n) from generate_series(1, 12) n));
select results_eq(
  $$select e.body from outbox.event e where e.body like '%"at": %' order by e.id$$,
  $$select format('{"at": %s}', n) from generate_series(1, 12) n$$, 'the ids of the events have the order of the array');

select is(refusal($$select outbox.take_events('into', '{}')$$), 'OH001 events is not a JSON array of at most 1000 events', 'what is no array');
select is(refusal($$select outbox.take_events('into', (select jsonb_agg('{}'::jsonb) from generate_series(1, 1001)))$$),
  'OH001 events is not a JSON array of at most 1000 events', 'or too long');
select is(refusal($$select outbox.take_events('a b', '[{"id": "x"}]')$$), 'OH001 consumer is ''a b''', 'what is no consumer');
select is(refusal($$select outbox.take_events('into', '[1]')$$), 'OH001 event_id is not 1 to 255 characters long', 'an event without an id');

insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
values ('org-m', gen_random_uuid(), 'source', 'moved', 'two', outbox.clock(), outbox.clock());
select outbox.close_publishing('org-m', outbox.clock());
select is(
  outbox.take_events('into', jsonb_build_array(
    pg_temp.event('m-1', '{"org_id": "org-m"}'), pg_temp.event('m-2'))),
  '[{"outcome": "refused", "error": "organisation org-m has moved to two"}, {"outcome": "taken"}]',
  'an event of an organisation that has moved is refused, and no other');
select is((select count(*) from outbox.consumer_inbox i where i.event_id = 'm-1'), 0::bigint, 'and may come again');

select * from finish();
rollback;
