-- Behind each number of the overview is a list of as many: what it counts, a person can look at.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(22);

create function listed(p_page jsonb) returns integer language sql as $$ select jsonb_array_length(p_page -> 'data') $$;
create function number(variadic p_path text[]) returns integer language sql as $$
  select (outbox.get_org_overview('org-1') #>> p_path)::integer
$$;

create temporary table e as select endpoint('{a.*}', p_org_id => 'org-1', p_retry => plain_retry(5)) as plain, endpoint('{b.*}', p_org_id => 'org-1', p_breaker => true) as broken,
  endpoint('{c.*}', p_org_id => 'org-1') as paused, endpoint('{d.*}', p_org_id => 'org-1', p_retry => plain_retry(5), p_ordering => 'partition') as ordered,
  endpoint('{a.*}', p_org_id => 'org-2', p_retry => plain_retry(5)) as other;
do $$ begin perform outbox.pause_endpoint(paused, 'x') from e; end $$;
do $$ begin perform outbox.disable_endpoint(endpoint('{x.*}', p_org_id => 'org-1'), 'x'); end $$;
-- Of an hour ago, which is out of the span.
do $$ begin perform events(2, 'a.b', p_org_id => 'org-1'), send(), time_passes('61 min'); end $$;
do $$ begin perform events(3, 'a.b', p_org_id => 'org-1'), events(1, 'a.b', p_org_id => 'org-2'), time_passes('2 s'), send(); end $$;
do $$ begin perform events(5, 'b.c', p_org_id => 'org-1'), fail(503); end $$;
do $$ begin perform events(2, 'c.d', p_org_id => 'org-1'), step(0); end $$;
do $$ begin perform events(4, 'a.c', p_org_id => 'org-1'), events(1, 'a.c', p_org_id => 'org-2'), fail(500); end $$;
-- A claim takes both, and both are retried.
do $$ begin perform events(2, 'd.d', p_org_id => 'org-1'), fail(500); end $$;
do $$ begin perform events(2, 'a.d', p_org_id => 'org-1'), step(1); end $$;

create temporary table span as select outbox.clock() - interval '1 h' as since, outbox.clock() as now, outbox.clock() + interval '1 h' as soon;
select is(number('events', 'total'), listed(outbox.list_events('org-1', p_from => since)), 'events') from span;
select is(number('events', 'total'), 18, 'of the span alone');
select is(number('attempts', 'total'), listed(outbox.list_org_attempts('org-1', p_from => since)), 'attempts') from span;
select is(number('attempts', 'delivered'), listed(outbox.list_org_attempts('org-1', 'delivered', p_from => since)), 'those that delivered') from span;
select is(number('attempts', 'delivered'), 3, 'of the span alone');
select is(number('attempts', 'failed'), listed(outbox.list_org_attempts('org-1', 'failed', p_from => since)), 'those that failed') from span;
select is(number('open'), listed(outbox.list_deliveries('org-1', 'open')), 'the backlog');
select is(number('open'), 15, 'of open deliveries in each status');
select is(number('inFlight'), listed(outbox.list_deliveries('org-1', 'processing')), 'in flight');
select is(number('inFlight'), 1, 'of which there is one');
select is(number('retriesDue', 'total'), listed(outbox.list_deliveries('org-1', 'retrying', p_due_from => now, p_due_to => soon)), 'retries of the next hour') from span;
select is(number('retriesDue', 'total'), 6, 'of unordered lanes and of an ordered one');
select is(number('endpoints', 'failing'), listed(outbox.list_org_endpoints('org-1', p_health => 'failing')), 'failing endpoints');
select is(number('endpoints', 'failing'), 3, 'of which there are three');
select is(number('endpoints', 'breakersOpen'), listed(outbox.list_org_endpoints('org-1', p_health => 'breaker_open')), 'open breakers');
select is(number('endpoints', 'breakersOpen'), 1, 'of which there is one');
select is(number('endpoints', 'paused') + number('endpoints', 'disabled'), listed(outbox.list_org_endpoints('org-1', p_health => 'held')), 'held endpoints');
do $$ begin perform events(2, 'a.b', p_org_id => 'org-1'), fail(404); end $$;
select is(number('deadLetters'), listed(outbox.list_dead_letters('org-1', p_status => 'open')), 'dead letters');

-- A retry counts from one hour before it is due until it is due.
do $$ begin perform outbox.schedule_retry(event_id, endpoint_id, interval '61 min') from outbox.delivery where failed_attempts > 0 and endpoint_id = (select plain from e); end $$;
select is(number('retriesDue', 'total'), 2, 'a later one is not counted');
do $$ begin perform time_passes('2 min'); end $$;
select is(number('retriesDue', 'total'), 4, 'until its hour has begun');
do $$ begin perform outbox.pause_endpoint(plain, 'x') from e; end $$;
select is(number('retriesDue', 'total'), 0, 'those of a paused endpoint are held');
select is(refusal($$select outbox.list_org_endpoints('org-1', p_health => 'ill')$$) like 'OH001 health is%', true, 'an unknown health is refused');

select * from finish();
rollback;
