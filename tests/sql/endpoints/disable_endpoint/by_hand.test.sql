-- Disabling by hand holds as a pause does, and says so as an operational event.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table made as select endpoint() as id;
select events(4);
create temporary table said as select outbox.disable_endpoint(id, 'their server was sold') as s from made;
select is(s, jsonb_build_object('id', id, 'status', 'disabled', 'was', 'enabled', 'reason', 'their server was sold', 'open', 0), 'it says what was') from said, made;
select is(claimed(step()), 0, 'nothing is sent');
select results_eq('select status, held_because, count(*) from outbox.delivery_status where org_id = ''default'' group by 1, 2',
  $$values ('held', 'endpoint disabled: their server was sold', 4::bigint)$$, 'what was published joins, and is held');
select results_eq('select status, reason, open from outbox.endpoint_status', $$values ('disabled', 'their server was sold', 4::bigint)$$, 'endpoint_status says so');
select results_eq($$select n from news('outhook.endpoint.disabled') n$$,
  $$select jsonb_build_object('endpointId', id, 'orgId', 'default', 'url', 'https://example.com/hook', 'status', 'disabled', 'reason', 'their server was sold') from made$$,
  'it is announced, with the reason');
select time_passes('1 d');
select is(claimed(step()), 0, 'nor a day later');
select outbox.resume_endpoint(id) from made;
select outbox.tick();
select is(claimed(step()), 1, 'a resume serves it again');
select outbox.disable_endpoint(id) from made;
select is((select status_reason from outbox.endpoint), 'disabled by hand', 'a reason need not be given');
select is(refusal('select outbox.disable_endpoint(null)'), 'OH002 endpoint NULL does not exist', 'an unknown endpoint is refused');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
