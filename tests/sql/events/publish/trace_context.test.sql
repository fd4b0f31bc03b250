-- An event carries the trace that its publisher works in: the argument, else the setting, else the header of the request.
begin;
\ir ../../_helpers.sql
select plan(9);

create function traceparents() returns text[] language sql as $$
  select array(select coalesce(left(e.traceparent, 5), '-') from outbox.event e order by e.created_at, e.id)
$$;
create temporary table given as select format('00-%s4bf92f3577b34da6a3ce929d0e0e47-00f067aa0ba902b7-01', n) as context, n from unnest(array['a1', 'b2', 'c3']) n;

select outbox.publish('a', '{}') is null as nothing;
select is(traceparents(), '{-}'::text[], 'where none is known there is none');

select time_passes('1 s');
select set_config('request.headers', format('{"host":"x","traceparent":"%s","accept":"*/*"}', context), true) is null as header from given where n = 'c3';
select outbox.publish('a', '{}') is null as by_header, outbox.publish_many('[{"type": "a", "payload": {}}]') is null as many;
select is(traceparents(), '{-,00-c3,00-c3}'::text[], 'the header of the request names it');

select time_passes('1 s');
select set_config('outhook.traceparent', context, true) is null as setting from given where n = 'b2';
select outbox.publish('a', '{}') is null as by_setting, outbox.publish_many('[{"type": "a", "payload": {}}, {"type": "a", "payload": {}, "endpoint_id": null, "deliver_at": "2026-03-01T12:00:09Z"}]') is null as many;
select is(traceparents(), '{-,00-c3,00-c3,00-b2,00-b2,00-b2}'::text[], 'the setting comes before it');

select time_passes('1 s');
select outbox.publish('a', '{}', p_traceparent => context) is null as by_argument,
  outbox.publish_many(jsonb_build_array(jsonb_build_object('type', 'a', 'payload', '{}'::jsonb, 'traceparent', context))) is null as many
from given where n = 'a1';
select is((traceparents())[7:8], '{00-a1,00-a1}'::text[], 'and the argument before both');

select outbox.publish('a', '{}', p_idempotency_key => 'once') as first \gset
select set_config('outhook.traceparent', context, true) is null as another from given where n = 'a1';
select is(outbox.publish('a', '{}', p_idempotency_key => 'once'), :'first'::uuid, 'the same event is the same in another trace');

select set_config('request.headers', '', true), set_config('outhook.traceparent', '', true);
select is(outbox.current_traceparent(), null, 'empty settings are none');
select set_config('outhook.traceparent', '00-zz', true);
select is(outbox.current_traceparent(), null, 'nor is what is no trace context');
select set_config('request.headers', '{"traceparent":"00-zz"', true);
select is(outbox.current_traceparent(), null, 'by a header either, be it JSON or not');
select lives_ok($$select outbox.publish('a', '{}')$$, 'and none of it fails a publisher');

select * from finish();
rollback;
