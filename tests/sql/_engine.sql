-- What the tests of the engine share besides _helpers.sql: whole rounds of claim and result in one word,
-- and the status of a gate, a delivery or its attempts as one value to compare.
set local search_path = helper, extensions;

-- Claims what is due and reports it all with one outcome; how many there were.
create function send(p_outcome text default 'delivered', p_more jsonb default '{"status": 200}', p_limit integer default 100)
returns integer language plpgsql as $$
declare
  v_answer jsonb := helper.step(p_limit);
begin
  perform helper.step(0, helper.results(v_answer, p_outcome, p_more));
  return helper.claimed(v_answer);
end
$$;

create function fail(p_status integer default 500, p_more jsonb default '{}') returns integer language sql as $$
  select helper.send('failed', jsonb_build_object('status', p_status) || p_more)
$$;

-- A call of another run than step()'s.
create function other_step(p_limit integer default 100, p_results jsonb default '[]') returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-000000000002', nextval('helper.seq'), p_results, p_limit)::jsonb
$$;

-- The results of one endpoint among those that a call returned.
create function results_of(p_answer jsonb, p_endpoint_id uuid, p_outcome text, p_more jsonb default '{}') returns jsonb language sql as $$
  select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(helper.results(p_answer, p_outcome, p_more)) r
  where r ->> 'endpoint' = p_endpoint_id::text
$$;

create function gate_of(p_endpoint_id uuid) returns outbox.gate language sql stable as $$
  select g from outbox.gate g where g.endpoint_id = p_endpoint_id
$$;

create function breaker_of(p_endpoint_id uuid) returns text language sql stable as $$
  select g.breaker from outbox.gate g where g.endpoint_id = p_endpoint_id
$$;

create function status_of(p_event_id uuid, p_endpoint_id uuid) returns text language sql stable as $$
  select s.status from outbox.delivery_status s where s.event_id = p_event_id and s.endpoint_id = p_endpoint_id
$$;

create function failed_attempts_of(p_event_id uuid, p_endpoint_id uuid) returns integer language sql stable as $$
  select d.failed_attempts from outbox.delivery d where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
$$;

-- The attempts of a delivery in order: attempt, outcome.
create function attempts(p_event_id uuid, p_endpoint_id uuid) returns text language sql stable as $$
  select string_agg(a.attempt || ' ' || case when a.kind = 'close' then 'closed as ' else '' end || a.outcome, ', '
    order by a.at, a.attempt, a.kind)
  from outbox.attempt a where a.event_id = p_event_id and a.endpoint_id = p_endpoint_id
$$;

-- Events of the organisation outhook, by type.
create function news(p_type text) returns setof jsonb language sql stable as $$
  select e.body::jsonb from outbox.event e where e.org_id = 'outhook' and e.type = p_type order by e.id
$$;
