-- Why an endpoint stays where it is: each reason names what ends it, also where it would stay for ever.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(19);

create temporary table e as select endpoint('{a}', p_org_id => 'org-1') as id;
create function why(p_with jsonb default '{}') returns text language sql as $$
  select outbox.why_endpoint_stays(jsonb_populate_record(x, p_with)) from outbox.endpoint x
$$;
create function blockers() returns text[] language sql as $$ select outbox.spread_blockers('org-1') $$;

-- What the endpoint is.
select is(why(), null, 'it moves');
select is(why('{"kind": "slack"}'),
  'is of the kind slack: only webhooks move. It may stay; otherwise create it in the other database, and delete it here', 'another kind');
select is(why('{"status": "paused", "status_reason": "lunch"}'), 'is paused: resume it first, or delete it', 'a person has paused it');
select is(why('{"status": "paused"}'), 'is paused: resume it first, or delete it', 'or did not say why');
select is(why(jsonb_build_object('status', 'disabled', 'status_reason', r)),
  'is disabled: call resume_endpoint() when its receiver works, or delete_endpoint()', 'disabled: ' || r)
from unnest(array['gone', 'failure_rule', 'failing_for_days', 'disabled by hand']) r;
select is(why('{"status": "paused", "status_reason": "unreadable: the signing secret: outbox.rotate_secret() creates a new one"}'),
  'is paused because it is unreadable: the signing secret: outbox.rotate_secret() creates a new one', 'the claim has paused it, and only a new secret resumes it');

-- What is open for it.
select outbox.publish('a', '1', 'org-1');
select step(p_limit => 0);
select is(why(), 'has open deliveries: 1. Wait for their end, or call cancel_delivery(). If new ones come all the time, pause what publishes them', 'an open delivery');
update outbox.gate set breaker = 'open' where true;
select matches(why(), '^has open deliveries: 1, and its breaker is open\. Wait ', 'which waits for the breaker');
update outbox.gate set breaker = 'closed' where true;
insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
select d.event_id, d.endpoint_id, 'claim', 2, '23514', 'no', now(), now() from outbox.delivery d;
select matches(why(), '^has open deliveries: 1\. ', 'which is tried again');
update outbox.refusal set failures = 3, again_at = 'infinity' where true;
select is(why(), 'has deliveries that were set aside: call retry_now() or cancel_delivery()', 'which nothing but a person tries again');
delete from outbox.refusal where true;
insert into outbox.lane (gate_id, ordered, key_hash, halted) select (gate_of(id)).id, true, 1, true from e;
select is(why(), 'has a lane that is halted: call resume_lane()', 'which waits in a lane that is halted');

-- The organisation.
insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
values ('org-1', gen_random_uuid(), 'source', 'copying', 'eu-9', now(), now());
select is(why('{"status": "paused", "status_reason": "the organisation moves to eu-9"}'),
  'is paused by the move of its organisation: end this with outhook move-org first', 'its organisation moves');
select is(blockers(), '{the move of the organisation is copying: end it with outhook move-org}', 'so none moves');
update outbox.org_move set status = 'finished' where true;
select is(blockers(), '{organisation org-1 has moved to eu-9: take this database out of the list in the routes of outhook consume}', 'it has moved');
update outbox.org_move set role = 'target', status = 'undone' where true;
select is(blockers(), '{organisation org-1 is still in eu-9: take this database out of the list in the routes of outhook consume}', 'or it has not come');
update outbox.org_move set status = 'live' where true;
select is(blockers(), '{}', 'it is here');

select * from finish();
rollback;
