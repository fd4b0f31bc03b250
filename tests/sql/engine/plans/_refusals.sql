-- Calls that look up refusals among many, and how many they read.
create temporary table made as select endpoint('{*}', p_max_in_flight => 1000) as id;
create function add(p_from integer, p_to integer) returns void language sql as $$
  -- Set aside at this endpoint, at others, and waiting for later.
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select outbox.uuid_v7(outbox.clock()), case when n % 2 = 0 then m.id else outbox.uuid_v7(outbox.clock()) end,
    case when n % 3 = 0 then 'result' else 'routing' end, 6, 'P0001', 'no', outbox.clock(),
    case when n % 100 = 0 then outbox.clock() + interval '1 day' else 'infinity' end
  from generate_series(p_from, p_to) n cross join made m
$$;
-- Five that are due, of deliveries that exist.
create function due() returns void language plpgsql as $$
declare
  v_events uuid[] := events(5);
begin
  perform step(0);
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select e, m.id, 'routing', 1, '40P01', 'no', outbox.clock(), outbox.clock() - interval '1 s' from unnest(v_events) e, made m;
end
$$;
create temporary table came (n integer generated always as identity, what text, result text, should text, rows bigint, most bigint);
create function measured(p_what text, p_statement text, p_should text, p_most bigint) returns void language plpgsql as $$
declare
  v_before bigint := (select c.rows from counters() c where c.relation = 'refusal');
  v_result text;
begin
  execute p_statement into v_result;
  insert into came (what, result, should, rows, most)
  select p_what, v_result, p_should, c.rows - coalesce(v_before, 0), p_most from counters() c where c.relation = 'refusal';
end
$$;
create function calls(p_name text) returns void language plpgsql as $$
begin
  perform due();
  perform measured(p_name || ': create_waiting()', 'select outbox.create_waiting(outbox.clock(), 100)', '5', 60);
  perform measured(p_name || ': create_waiting() without work', 'select outbox.create_waiting(outbox.clock(), 100)', '0', 5);
  perform due();
  perform measured(p_name || ': forget_refusals()', 'select outbox.forget_refusals(array[event_id], array[endpoint_id]) is null from outbox.delivery limit 1', null, 10);
  delete from outbox.refusal where again_at <= outbox.clock();
end
$$;
