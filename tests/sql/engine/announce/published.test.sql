-- What the system says of itself: ordinary events of the organisation outhook, delivered like any other.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(22);

create temporary table made as select endpoint(p_breaker => true, p_org_id => 'org-123') as id,
  endpoint('{outhook.*}', p_org_id => 'outhook') as watcher, endpoint('{*}') as stranger;
-- The endpoint fails; whatever else is due is delivered.
create function fail_it(p_status integer) returns void language plpgsql as $$
declare
  v_answer jsonb := step();
begin
  perform step(0, (
    select jsonb_agg(case when m.id::text = r ->> 'endpoint' then r || jsonb_build_object('outcome', 'failed', 'status', p_status) else r end)
    from jsonb_array_elements(results(v_answer, 'delivered', '{"status": 200}')) r, made m));
end
$$;
create temporary table event as select (events(1, 'order.paid', p_org_id => 'org-123'))[1] as id;
select fail_it(404);
select results_eq('select n from news(''outhook.delivery.dead_lettered'') n',
  $$select jsonb_build_object('deadLetterId', x.id, 'eventId', e.id, 'endpointId', m.id, 'orgId', 'org-123', 'eventType', 'order.paid', 'error', 'failed',
      'retryCount', 1, 'why', 'not_retryable') from outbox.dead_letter x, event e, made m$$, 'a dead letter is announced, with all that leads to it');
create temporary table answer as select step() as a;
select is(claimed(a), 1, 'the event goes to who is subscribed to it') from answer;
select is(claimed(a, watcher), 1, 'in the organisation outhook alone') from answer, made;
select is((select v ->> 'type' from answer, jsonb_each(a -> 'events') x (k, v)), 'outhook.delivery.dead_lettered', 'its type') from answer;
select is((select v ->> 'org_id' from answer, jsonb_each(a -> 'events') x (k, v)), 'outhook', 'its organisation') from answer;
select step(0, results(a, 'delivered')) from answer;

select events(5, p_org_id => 'org-123');
select fail_it(500);
select results_eq('select n from news(''outhook.breaker.opened'') n',
  $$select jsonb_build_object('endpointId', id, 'orgId', 'org-123', 'url', 'https://example.com/hook', 'status', 'enabled', 'reason', null) from made$$, 'a breaker that opens is announced');
select time_passes('30 s');
select send('delivered', '{"status": 200}');
select is((select count(*) from news('outhook.breaker.closed')), 1::bigint, 'one that closes too');
select time_passes('10 s');
select events(1, p_org_id => 'org-123');
select fail_it(410);
select is((select n ->> 'reason' from news('outhook.endpoint.disabled') n), 'gone', 'an endpoint that is gone too');
select outbox.resume_endpoint(id) from made;
select outbox.disable_endpoint(id, 'by hand') from made;
select is((select array_agg(n ->> 'reason' order by n ->> 'reason') from news('outhook.endpoint.disabled') n), '{"by hand",gone}', 'and one that is disabled by hand');
-- The watcher gets each, the stranger none.
do $$ begin for n in 1 .. 5 loop perform helper.send(); end loop; end $$;
select is((select count(distinct a.event_id) from outbox.attempt a join made on a.endpoint_id = watcher where a.outcome = 'delivered'),
  (select count(*) from outbox.event where org_id = 'outhook'), 'who watches gets each of them');
select is((select count(*) from outbox.attempt a join made on a.endpoint_id = stranger), 0::bigint, 'nobody else gets any');

-- Who may do what with the organisation.
select is(refusal('select outbox.publish(''order.paid'', ''{}'', ''outhook'')'), 'OH001 org_id is outhook, which is the system''s own', 'nobody publishes under this name');
select is(refusal('select outbox.publish_raw(''order.paid'', ''{}'', ''outhook'')'), 'OH001 org_id is outhook, which is the system''s own', 'nor raw');
select is(refusal($$select outbox.publish_many('[{"type": "a", "payload": {}, "org_id": "outhook"}]')$$), 'OH001 events[0]: org_id is outhook, which is the system''s own', 'nor many');
select is(refusal(format('select outbox.publish(''a'', ''{}'', p_endpoint_id => %L)', watcher)), format('OH002 endpoint %s does not exist in organisation default', watcher),
  'nor to its endpoints') from made;
select is((select count(*) from outbox.event where type in ('a', 'order.paid') and org_id = 'outhook'), 0::bigint, 'what is refused is not stored');
select is((outbox.send_test_event(watcher) -> 'event_id') is null, false, 'its endpoints take a test event') from made;
select is(claimed(step(), watcher), 1, 'which arrives') from made;

-- Many at once: one event each.
create temporary table many as select endpoint('{many.event}') as id;
select events(50, 'many.event', p_endpoint_id => id) from many;
create temporary table before as select count(*) as n from outbox.event where org_id = 'outhook';
select fail(400);
select is((select count(*) from outbox.event where org_id = 'outhook') - n, 50::bigint, 'fifty dead letters make fifty events') from before;
select is((select count(distinct n ->> 'eventId') from news('outhook.delivery.dead_lettered') n), 51::bigint, 'of fifty-one deliveries in all');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
