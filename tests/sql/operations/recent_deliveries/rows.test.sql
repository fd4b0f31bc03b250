-- The newest deliveries, whatever became of them: as delivery_status shows them, newest event first, of one organisation
-- or of all.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

create function shown(p_org_id text, p_limit integer default 100) returns text language sql as $$
  select string_agg(r.event_type || ' ' || r.status, ', ' order by r.place)
  from outbox.recent_deliveries(p_org_id, p_limit) with ordinality r (event_id, endpoint_id, org_id, event_type, status, held_because, attempt, failed_attempts, next_attempt_at, created_at, finished_at, open, place)
$$;

select is(shown('org-1'), null, 'nothing of nobody');
create temporary table made as select endpoint('{a.*}', p_org_id => 'org-1', p_retry => plain_retry(1)) as one, endpoint('{a.5}', p_org_id => 'org-1') as two, endpoint(p_org_id => 'org-2') as other;
create temporary table event (n integer, id uuid);
insert into event select 1, id from unnest(events(1, 'a.1', p_org_id => 'org-1')) id;
select send(), time_passes('1 h');
insert into event select 2, id from unnest(events(1, 'b.2', p_org_id => 'org-2')) id;
select send(), time_passes('1 h');
insert into event select 3, id from unnest(events(1, 'none', p_org_id => 'org-1')) id;
select step(0), time_passes('1 h');
insert into event select 4, id from unnest(events(1, 'a.4', p_org_id => 'org-1')) id;
select fail(404), time_passes('1 h');
insert into event select 5, id from unnest(events(1, 'a.5', p_org_id => 'org-1')) id;
create temporary table claim as select step() as a;
select step(0, results_of(a, one, 'failed', '{"status": 503}') || results_of(a, two, 'delivered', '{"status": 200}')) from claim, made;
select time_passes('1 s');
insert into event select 6, id from unnest(events(1, 'a.6', p_org_id => 'org-1')) id;

select is(shown('org-1'), 'a.5 ' || case when one < two then 'retrying, a.5 delivered' else 'delivered, a.5 retrying' end || ', a.4 dead_letter, none no_subscriber, a.1 delivered', 'open and finished, newest first, without what waits for routing') from made;
select step(0), outbox.replay(e.id, m.one) from event e, made m where e.n = 4;
select is(shown('org-1'), 'a.6 pending, a.5 ' || case when one < two then 'retrying, a.5 delivered' else 'delivered, a.5 retrying' end || ', a.4 pending, none no_subscriber, a.1 delivered', 'a replayed one is shown once, as it is now, at its event''s place') from made;
select is((select r.held_because from outbox.recent_deliveries('org-1') r join event e on e.id = r.event_id where e.n = 6), null, 'which nothing holds');
select outbox.pause_endpoint(one, 'for a test') from made;
select is((select r.status || ': ' || r.held_because from outbox.recent_deliveries('org-1') r join event e on e.id = r.event_id where e.n = 6), 'held: endpoint paused: for a test', 'or why it is held');
select outbox.resume_endpoint(one) from made;

select is(shown('org-2'), 'b.2 delivered', 'another organisation has its own');
select is(shown('org-'), null, 'a name that begins like another''s has none');
select is(shown('org-10'), null, 'nor one that goes on behind it');
select is((select count(*) from outbox.recent_deliveries()), (select count(*) from outbox.delivery_status), 'without one all are shown');
select is((select array_agg(distinct r.org_id order by r.org_id) from outbox.recent_deliveries(null) r where r.org_id <> 'outhook'), '{org-1,org-2}'::text[], 'of every organisation');
select results_eq('select * from outbox.recent_deliveries(''org-1'')', 'select * from outbox.delivery_status where org_id = ''org-1'' order by event_id desc, endpoint_id', 'in each column they are those of delivery_status');
select results_eq('select * from outbox.recent_deliveries()', 'select * from outbox.delivery_status order by event_id desc, endpoint_id', 'and so of all');

select is(shown('org-1', 1), 'a.6 pending', 'the newest alone');
select is(shown('org-1', 2), 'a.6 pending, a.5 ' || case when one < two then 'retrying' else 'delivered' end, 'an event''s deliveries may be cut') from made;
select is(shown('org-1', 4), regexp_replace(shown('org-1'), '^((?:[^,]+, ){3}[^,]+).*$', '\1'), 'as many as were asked for');
select is(shown('org-1', 1000), shown('org-1'), 'up to 1,000');
-- Of the newest 7 events none is routed yet.
select time_passes('1 s'), events(7, 'a.7', p_org_id => 'org-1');
select is(shown('org-1', 7), null, 'no more events are looked at than rows were asked for');
select is(shown('org-1', 8), 'a.6 pending', 'behind those that wait for routing too');

select is(refusal('select outbox.recent_deliveries('''')'), 'OH001 org_id is ''''', 'an organisation that can be none is refused');
select is(refusal('select outbox.recent_deliveries(''org-1'', 0)'), 'OH001 limit is 0', 'none are too few');
select is(refusal('select outbox.recent_deliveries(p_limit => -1)'), 'OH001 limit is -1', 'as are less');
select is(refusal('select outbox.recent_deliveries(p_limit => 1001)'), 'OH001 limit is 1001', 'more than 1,000 are too many');
select is(refusal('select outbox.recent_deliveries(p_limit => null)'), 'OH001 limit is null', 'and without a bound there is none');
delete from outbox.event e using event v where v.id = e.id and v.n = 1;
select is(shown('org-1', 1000), 'a.6 pending, a.5 ' || case when one < two then 'retrying, a.5 delivered' else 'delivered, a.5 retrying' end || ', a.4 pending, none no_subscriber', 'a dropped event is shown no more') from made;

select * from finish();
rollback;
