-- One endpoint moves to another database of its organisation: what keeps it, what it takes along, and what becomes of
-- events that come meanwhile. This database takes the part of both.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(44);

create temporary table e as select endpoint('{a}', p_org_id => 'org-1', p_filter => '$.n > 0', p_rate_per_second => 7) as id;
select outbox.set_headers(id, '{"x-key": "k"}') from e;
select outbox.rotate_secret(id) from e;
create function why() returns text language sql as $$
  select s -> 'why' #>> '{}' from jsonb_array_elements(outbox.spread_status('org-1') -> 'endpoints') s
$$;
create function sent() returns text language sql as $$ select refusal(format('select outbox.send_endpoint(%L)', id)) from pg_temp.e $$;

select is(outbox.spread_status('org-1') - 'server' - 'version',
  jsonb_build_object('blockers', '[]'::jsonb, 'endpoints', jsonb_build_array(jsonb_build_object('id', id, 'from', null, 'why', null))), 'an endpoint that can move') from e;
select is(outbox.spread_status('org-2') -> 'endpoints', '[]', 'only of the organisation');
select is(refusal($$select outbox.spread_status('org 1')$$), 'OH001 org_id is ''org 1''', 'no organisation has this id');

-- What keeps it where it is.
create temporary table v as select outbox.publish('a', '{"n": 1}', 'org-1', p_idempotency_key => 'first') as id;
select is(sent(), 'OH004 no endpoint of organisation org-1 can move: events wait for routing', 'an event that is not routed');
select step(p_limit => 0);
select matches(why(), '^has open deliveries: 1\. ', 'an open delivery');
select matches(sent(), format('^OH004 endpoint %s has open deliveries: 1\.', id), 'which is delivered here') from e;
select fail(400);
select is(why(), 'has dead letters: 1. Replay or discard them', 'a dead letter');
select outbox.discard_dead_letter(x.event_id, x.endpoint_id, 'lost') from outbox.dead_letter x;
select step(p_limit => 0);
select is(why(), null, 'which is discarded');
insert into outbox.lane (gate_id, ordered, key_hash, halted) select (gate_of(id)).id, true, 1, true from e;
select is(why(), 'has a lane that is halted: call resume_lane()', 'a halted lane, which may have nothing open');
delete from outbox.lane where halted;
select outbox.pause_endpoint(id, 'lunch') from e;
select is(why(), 'is paused: resume it first, or delete it', 'a pause');
select outbox.resume_endpoint(id) from e;
update outbox.endpoint_secret s set vault_id = gen_random_uuid() where s.expires_at is null;
select matches(why(), '^is unreadable: ', 'a secret that cannot be read');
select outbox.rotate_secret(id) from e;
select is(why(), null, 'which is replaced');
insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
values ('org-1', gen_random_uuid(), 'source', 'copying', 'eu-9', now(), now());
select is(sent(), 'OH004 no endpoint of organisation org-1 can move: the move of the organisation is copying: end it with outhook move-org', 'a move of the organisation');
delete from outbox.org_move where true;

-- The source.
select is(outbox.carried_keys('org-1', 1), '["first"]', 'what was taken has its keys');
select is(outbox.carried_keys('org-2', 1), '[]', 'for each organisation');
update outbox.event set endpoint_id = (select id from e) where idempotency_key = 'first';
select is(outbox.carried_keys('org-1', 1), '[]', 'but not what only this database takes, because it is for one endpoint');
update outbox.event set endpoint_id = null where idempotency_key = 'first';
-- The order of two events of the same time is random.
select time_passes('1 ms');
select outbox.publish('a', '{"n": 0}', 'org-1', p_idempotency_key => 'second');
select step(p_limit => 0);
select is(outbox.carried_keys('org-1', 1), '["second"]', 'the newest ones');
select is(outbox.carried_keys('org-1', 2), '["second", "first"]', 'as many as are asked for');
create temporary table item as select outbox.send_endpoint(id) as item, outbox.read_secret(id) as secrets from e;
select is(refusal(format('select outbox.receive_endpoint(%L, %L, %L)', 'org-1', 'eu-1', item)), format('OH004 endpoint %s is in both databases', id), 'it is not received where it is') from e, item;
select is(refusal(format('select outbox.leave_endpoint(%L, %L)', id, 'eu 2')), 'OH001 other is not 1 to 100 visible ASCII characters', 'the target has a name') from e;
select is(outbox.has_left(id, 'eu-2'), false, 'it has not left') from e;
select outbox.leave_endpoint(id, 'eu-2') from e;
select is((select status || ' ' || status_reason from outbox.endpoint), 'deleted moved to eu-2', 'the source deletes it, and says why');
select is(outbox.has_left(id, 'eu-2'), true, 'it has left') from e;
select is(refusal(format('select outbox.has_left(%L, %L)', id, 'eu-3')), format('OH004 endpoint %s has moved to eu-2, and not to eu-3', id), 'for no other database') from e;
select is(refusal(format('select outbox.leave_endpoint(%L, %L)', id, 'eu-2')), format('OH002 endpoint %L does not exist', id), 'once') from e;
select outbox.publish('a', '{"n": 2}', 'org-1');
select is(claimed(step()), 0, 'and delivers nothing that comes later');

-- The target.
select outbox.remove_endpoint(g.endpoint_id, g.id) from outbox.gate g, e where g.endpoint_id = e.id;
delete from outbox.unrouted where true;
select outbox.receive_endpoint('org-1', 'eu-1', item) from item;
select is(outbox.spread_status('org-1') -> 'endpoints', jsonb_build_array(jsonb_build_object('id', id, 'from', 'eu-1', 'why', null)), 'it is on its way') from e;
select is(refusal(format('select outbox.%s(%L)', f, id)), format('OH004 endpoint %s moves here from eu-1, which may still deliver to it', id), f || '() is refused')
from e, unnest(array['resume_endpoint', 'pause_endpoint', 'disable_endpoint']) f;
select is((select status || ' ' || status_reason from outbox.endpoint), 'paused the endpoint moves here from eu-1', 'and changes nothing');
select is((select rate_per_second || ' ' || header_names::text from outbox.endpoint), '7 {x-key}', 'with its settings and headers');
select is(outbox.read_secret(id) - 'id', secrets - 'id', 'with its secrets, also the replaced ones') from e, item;
select is((select s.pattern || ' ' || s.filter_text from outbox.subscription s), 'a $.n > 0', 'with its event types and filter');
select outbox.publish('a', '{"n": 3}', 'org-1');
select is(claimed(step()), 0, 'what comes meanwhile waits');
select is((gate_of(id)).depth::integer, 1, 'for the endpoint') from e;
select outbox.receive_endpoint('org-1', 'eu-1', item) from item;
select is((gate_of(id)).depth::integer, 0, 'an earlier run had begun: the source has delivered what waited') from e;
select is(refusal(format('select outbox.receive_endpoint(%L, %L, %L)', 'org-1', 'eu-3', item)), format('OH004 endpoint %s is in both databases', id), 'it does not arrive from two') from e, item;
select outbox.publish('a', '{"n": 4}', 'org-1');
select step(p_limit => 0);
select outbox.open_endpoint(id, 'eu-3') from e;
select is((select status from outbox.endpoint), 'paused', 'another database does not open it');
select outbox.open_endpoint(id, 'eu-1') from e;
select time_passes('1 minute');
select is(claimed(step(), id), 1, 'opened, it delivers what waited') from e;
select outbox.pause_endpoint(id, 'lunch') from e;
select outbox.open_endpoint(id, 'eu-1') from e;
select is((select status_reason from outbox.endpoint), 'lunch', 'opened again, nothing changes');
select outbox.drop_arrival(id, 'eu-1') from e;
select is((select status_reason from outbox.endpoint), 'lunch', 'nor is it dropped');
update outbox.endpoint set status_reason = outbox.arrival_reason('eu-1') where true;
select outbox.drop_arrival(id, 'eu-1') from e;
select is((select count(*)::integer from outbox.endpoint where status <> 'deleted'), 0, 'what was deleted elsewhere is dropped');

select is((select array_agg(x.action || ' ' || x.details order by x.id) from outbox.audit_event x where x.action like 'MOVE%'), array[
  'MOVED The endpoint has moved to eu-2',
  'MOVE_BEGUN The endpoint moves here from eu-1',
  'MOVE_BEGUN The endpoint moves here from eu-1',
  'MOVED The endpoint has moved here from eu-1',
  'MOVE_UNDONE The endpoint has not left eu-1'], 'the audit trail has each step');

select * from finish();
rollback;
