-- The edge runs and the workers, for a page of an operator. They belong to the project and not to
-- an organisation.

create function outbox.list_runs() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_most constant integer := 200;
  v_found jsonb := outbox.list_workers();
  v_alive timestamptz := outbox.alive_since(outbox.clock());
begin
  return (
    with listed as materialized (
      select pg_catalog.jsonb_build_object(
        'id', w ->> 'run', 'kind', 'worker', 'host', w ->> 'host', 'pid', w ->> 'pid',
        'version', w ->> 'version', 'startedAt', w ->> 'started_at', 'seenAt', w ->> 'seen_at',
        'inFlight', w -> 'in_flight', 'delivered', w -> 'delivered',
        'status', w ->> 'status') as run, n
      from pg_catalog.jsonb_array_elements(v_found -> 'workers') with ordinality x (w, n)
      union all
      select pg_catalog.jsonb_build_object(
        'id', r.id, 'kind', 'edge', 'host', null, 'pid', null, 'version', null,
        'startedAt', outbox.iso_time(r.started_at), 'seenAt', outbox.iso_time(r.polled_at),
        'inFlight', null, 'delivered', null, 'status', 'live'),
        1000000 + pg_catalog.row_number() over (order by r.started_at, r.id)
      from outbox.run r
      where r.kind = 'edge' and r.ended_at is null and r.polled_at > v_alive
    )
    select pg_catalog.jsonb_build_object(
      'time', v_found ->> 'at',
      'alive', pg_catalog.jsonb_build_object(
        'runs', pg_catalog.count(*) filter (where l.run ->> 'kind' = 'edge'),
        'workers', pg_catalog.count(*) filter (
          where l.run ->> 'kind' = 'worker' and l.run ->> 'status' = 'live')),
      'data', coalesce(pg_catalog.jsonb_agg(l.run order by l.n) filter (where l.place <= v_most),
        '[]'),
      'problems', v_found -> 'problems')
    from (select o.*, pg_catalog.row_number() over (order by o.n) as place from listed o) l);
end
$$;
comment on function outbox.list_runs() is
  'The edge runs and workers: {"time", "alive": {"runs": live edge runs, "workers": live '
  'workers}, "data": the first 200, the workers first: [{"id", "kind" (worker, edge), "host", '
  '"pid", "version", "startedAt", "seenAt", "inFlight", "delivered": in the last 60 s, "status": '
  'see list_workers()}], "problems": why one of them may get no deliveries}. '
  'The other members are null for an edge run.';
