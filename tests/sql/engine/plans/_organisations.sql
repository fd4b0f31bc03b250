-- 1,000 organisations with one endpoint each beside one with 1,000 endpoints: what routing, claiming and the count of the
-- backlog touch.
\ir ../../_usage.sql

create function add_endpoints(p_org_id text, p_count integer) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, retry, created_at, updated_at)
  select p_org_id, 'https://example.com/' || n, plain_retry(), outbox.clock(), outbox.clock() from generate_series(1, p_count) n;
end
$$;
-- As routing would leave p_each deliveries for each endpoint of the wide one. Ten times as many of its events wait for a turn.
create function fill(p_each integer) returns void language plpgsql as $$
begin
  perform add_endpoints('wide', 1000);
  perform add_endpoints('org-' || n, 1) from generate_series(1, 1000) n;
  insert into outbox.subscription (org_id, pattern, endpoint_id, created_at) select e.org_id, '*', e.id, e.created_at - interval '1 h' from outbox.endpoint e;
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e;
  perform events(least(p_each, 1000), p_org_id => 'wide') from generate_series(1, greatest(1, p_each / 1000));
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
  select v.id, g.endpoint_id, l.id, outbox.clock(), 2
  from outbox.event v cross join outbox.gate g join outbox.lane l on l.gate_id = g.id where g.org_id = 'wide';
  update outbox.lane l set depth = p_each, next_at = outbox.clock() from outbox.gate g where g.id = l.gate_id and g.org_id = 'wide';
  update outbox.gate set depth = p_each, next_at = outbox.clock() where org_id = 'wide';
  delete from outbox.unrouted where true;
  with made as (
    insert into outbox.event (id, org_id, type, body, created_at)
    select outbox.uuid_v7(at), 'wide', 'a', '{}', at
    from (select outbox.clock() - n * interval '1 ms' as at from generate_series(1, p_each * 10) n) t
    returning id
  )
  insert into outbox.unrouted (event_id, org_id, xid) select id, 'wide', '3' from made;
  insert into outbox.waiting_part select distinct org_id, period from outbox.unrouted;
  update outbox.router set watermark = (select u.event_id from outbox.unrouted u order by u.event_id desc limit 1), seen_below = pg_current_xact_id(), shared_at = '-infinity' where true;
end
$$;
create function drain() returns void language plpgsql as $$
begin
  delete from outbox.delivery where true;
  delete from outbox.unrouted where true;
  delete from outbox.waiting_part where true;
  delete from outbox.event where true;
  delete from outbox.lane where true;
  delete from outbox.gate where true;
  delete from outbox.subscription where true;
  delete from outbox.endpoint where true;
end
$$;

create temporary table came (n integer generated always as identity, what text, came text, should text, most bigint);
create function note(p_what text, p_came text, p_should text, p_most bigint) returns void language sql as $$
  insert into came (what, came, should, most) values (p_what, p_came, p_should, p_most)
$$;
create function routed_of(p_like text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.gate g using (endpoint_id) where g.org_id like p_like
$$;
create function measure_backlog(p_what text) returns void language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
begin
  perform outbox.event_metrics();
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
end
$$;
create function calls(p_name text) returns void language plpgsql as $$
declare
  v_answer jsonb;
  v_before bigint := routed_of('org-%');
begin
  perform time_passes('10 s');
  perform outbox.publish('a', '{}', 'org-' || n) from generate_series(1, 300) n;
  v_answer := measure(p_name || ': routing', 0);
  perform note(p_name || ': routing', (routed_of('org-%') - v_before)::text, '300', 60000);
  perform time_passes('1 s');
  -- One of each of the 300, and the share of the wide one.
  v_answer := measure(p_name || ': claiming', 400);
  perform note(p_name || ': claiming', claimed(v_answer)::text, '350', 30000);
  perform time_passes('1 s');
  v_answer := measure(p_name || ': completing', 400, results(v_answer, 'delivered'));
  perform note(p_name || ': completing', v_answer ->> 'applied', '350', 60000);
  perform measure_backlog(p_name || ': backlog');
  perform note(p_name || ': backlog', '', '', 60000);
end
$$;
