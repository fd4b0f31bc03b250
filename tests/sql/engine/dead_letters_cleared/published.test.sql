-- outhook.dead_letters.cleared: the last waiting dead letter of an endpoint was replayed or discarded.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

create temporary table made as select endpoint(p_org_id => 'org-123') as id, endpoint(p_org_id => 'org-124') as other;
-- Dead letters of an organisation; what is due before is delivered.
create function letters(p_org_id text, p_count integer) returns uuid[] language plpgsql as $$
declare
  v_events uuid[];
begin
  perform send('delivered', '{"status": 200}');
  v_events := events(p_count, 'order.paid', p_org_id => p_org_id);
  perform fail(404);
  return v_events;
end
$$;
create function cleared() returns bigint language sql as $$ select count(*) from news('outhook.dead_letters.cleared') $$;

create temporary table early as select (letters('org-123', 1))[1] as event;
select outbox.discard_dead_letter(event, id, 'why') from early, made;
select is(cleared(), 0::bigint, 'without an endpoint of outhook, nobody is told');
create temporary table watcher as select endpoint('{outhook.*}', p_org_id => 'outhook') as id;

create temporary table letter as select letters('org-123', 3) as events;
select is((select count(*) from outbox.dead_letter where org_id = 'org-123' and replayed_at is null and discarded_at is null), 3::bigint, 'three dead letters wait');
select outbox.discard_dead_letter(events[1], id, 'why') from letter, made;
select outbox.replay(events[2], id) from letter, made;
select is(cleared(), 0::bigint, 'while one waits, the alert stays');
create temporary table of_other as select letters('org-124', 1) as events;
select outbox.discard_dead_letter(events[3], id, 'why') from letter, made;
select results_eq($$select n from news('outhook.dead_letters.cleared') n$$,
  $$select jsonb_build_object('endpointId', id, 'orgId', 'org-123', 'url', 'https://example.com/hook') from made$$, 'the last one of the endpoint ends it, whatever waits for another');
select outbox.discard_dead_letter(events[3], id, 'why again') from letter, made;
select is(cleared(), 1::bigint, 'once');

-- A replay that fails begins anew.
select outbox.discard_dead_letter(events[1], other, 'why') from of_other, made;
select is(cleared(), 2::bigint, 'another endpoint has its own');
create temporary table again as select letters('org-123', 1) as events;
select outbox.replay(events[1], id) from again, made;
select is(cleared(), 3::bigint, 'a replay ends the wait');
select fail(404);
select is((select count(*) from outbox.dead_letter x, again where x.event_id = events[1] and x.replayed_at is null), 1::bigint, 'until it fails');
select outbox.replay(events[1], id) from again, made;
select is(cleared(), 4::bigint, 'and is replayed again');

-- Many at once, by hand.
select letters('org-123', 5);
update outbox.dead_letter set discarded_at = outbox.clock() where discarded_at is null;
select is(cleared(), 5::bigint, 'one statement that ends many publishes one event for each endpoint');

-- Dead letters of the organisation outhook itself.
select fail(404);
select ok(count(*) > 0, 'the watcher has dead letters') from outbox.dead_letter where org_id = 'outhook' and discarded_at is null;
update outbox.dead_letter set discarded_at = outbox.clock() where discarded_at is null;
select is(cleared(), 5::bigint, 'its own dead letters cause none');

select * from finish();
rollback;
