-- What the database has refused of one organisation holds up nothing of another one. Work is counted in rows.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

-- Events that were set aside for a while.
create function aside(p_org_id text, p_count integer, p_since interval) returns void language sql as $$
  insert into outbox.unroutable (event_id, error, set_aside_at, org_id, again_at)
  select outbox.uuid_v7(outbox.clock() - p_since + n * interval '1 us'), 'deadlock detected', outbox.clock() - p_since, p_org_id,
    outbox.clock() - p_since + n * interval '1 us'
  from generate_series(1, p_count) n
$$;
create function moved(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.unrouted where org_id = p_org_id
$$;
select aside('noisy', 150, '1 h'), aside('quiet', 2, '1 min');
select is(outbox.route_waiting(outbox.clock(), 100), 100, 'a tick routes 100 events again');
select is(moved('quiet'), 2::bigint, 'all of the later organisation, because it has fewer');
select is(moved('noisy'), 98::bigint, 'and the oldest of the other one');
select is(outbox.route_waiting(outbox.clock(), 100), 52, 'the next tick goes on');
delete from outbox.unrouted where true;

-- One organisation has more than a tick reads.
select aside('noisy', 5100, '1 h'), aside('quiet', 2, '1 min'), aside('zero', 30, '1 min');
select is(outbox.route_waiting(outbox.clock(), 100), 100, 'behind 5,100 of another one');
select is(moved('quiet') || ' ' || moved('zero'), '2 10', 'each organisation has a turn');
delete from outbox.unrouted where true;
delete from outbox.unroutable where true;

-- Deliveries that could not be created for a while.
create temporary table made as select endpoint('{a}', p_org_id => 'noisy') as noisy, endpoint('{b}', p_org_id => 'quiet') as quiet;
create function refused(p_org_id text, p_type text, p_endpoint_id uuid, p_count integer, p_since interval) returns void language sql as $$
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select e, p_endpoint_id, 'routing', 1, '40P01', 'deadlock detected', outbox.clock() - p_since, outbox.clock() - p_since
  from unnest(events(p_count, p_type, p_org_id => p_org_id)) e
$$;
select refused('noisy', 'a', noisy, 30, '1 h'), refused('quiet', 'b', quiet, 2, '1 min') from made;
delete from outbox.unrouted where true;
select is(outbox.create_waiting(outbox.clock(), 10), 10, 'a tick creates as many deliveries as it may');
select is((select count(*) from outbox.delivery join made on endpoint_id = quiet), 2::bigint, 'all of the later organisation');
select is((select count(*) from outbox.delivery join made on endpoint_id = noisy), 8::bigint, 'and the oldest of the other one');
select refused('noisy', 'a', noisy, 5100, '1 h'), refused('quiet', 'b', quiet, 2, '1 min') from made;
delete from outbox.unrouted where true;
select is(outbox.create_waiting(outbox.clock(), 10), 10, 'behind 5,100 of another one');
select is((select count(*) from outbox.delivery join made on endpoint_id = quiet), 4::bigint, 'each organisation has a turn');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
