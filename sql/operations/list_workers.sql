-- The workers of all hosts, for the command `outhook workers`.

create function outbox.list_workers() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_alive timestamptz := outbox.alive_since(v_now);
  -- A worker that ends makes no call while it waits for a response, which takes up to 60 s.
  v_drains timestamptz := v_now - interval '90 s';
begin
  return pg_catalog.jsonb_build_object(
    'at', outbox.iso_time(v_now),
    'contracts', outbox.contracts(),
    'workers', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'run', r.id,
        'host', r.worker ->> 'host',
        'pid', r.worker ->> 'pid',
        'version', r.worker ->> 'version',
        'contracts', case when r.worker is not null then pg_catalog.jsonb_build_object(
          'oldest', r.worker -> 'oldest', 'newest', r.worker -> 'newest') end,
        'started_at', outbox.iso_time(r.started_at),
        'seen_at', outbox.iso_time(r.polled_at),
        'in_flight', r.worker -> 'in_flight',
        'delivered', r.worker -> 'delivered',
        'status', case
          when r.ended_at is not null then 'draining'
          when r.polled_at > v_alive then 'live'
          else 'silent'
        end) order by r.worker ->> 'host', r.started_at, r.id), '[]')
      from outbox.run r
      where r.kind = 'worker'
        and (r.ended_at is null
          or (r.worker ->> 'in_flight')::integer > 0 and r.polled_at > v_drains)),
    'problems', pg_catalog.to_jsonb(pg_catalog.array_remove(array[
      outbox.contract_problem(v_now),
      outbox.binding_problem(v_now),
      case when not outbox.setting_on('worker.enabled') then 'delivery is switched off' end
    ], null)));
end
$$;
comment on function outbox.list_workers() is
  'The workers of all hosts, and why one may get no deliveries: {"at", "contracts": those of the '
  'database, "workers": [{"run", "host", "pid", "version", "contracts", "started_at", "seen_at", '
  '"in_flight", "delivered": in the last 60 s, "status"}], "problems": texts}. status: live, '
  'draining (it claims nothing and finishes what is in flight), silent (it has not called since '
  'alive_since(); shown for an hour). A worker of an older version has no host. A refused worker '
  'is not listed, but its reason is a problem. After a crash of the database, started_at is the '
  'time of the next call.';
