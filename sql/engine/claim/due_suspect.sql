-- Endpoints from which the database has refused to claim (endpoint_refusal). When one of them is
-- due again, it is served alone, so that it fails no claim of the others.

create function outbox.due_suspect(p_now timestamptz) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_suspect uuid;
  v_endpoints uuid[];
  v_unsent text[] := outbox.unsent_kinds();
begin
  select r.endpoint_id into v_suspect
  from outbox.endpoint_refusal r
  where r.again_at <= p_now
    and exists (
      select from outbox.gate g
      where g.endpoint_id = r.endpoint_id and g.next_at <= p_now)
    and exists (
      select from outbox.endpoint e
      where e.id = r.endpoint_id and e.status = 'enabled' and e.kind <> all (v_unsent))
  order by r.again_at
  limit 1
  for no key update of r skip locked;
  if v_suspect is not null then
    select array[g.endpoint_id] into v_endpoints
    from outbox.gate g
    where g.endpoint_id = v_suspect and coalesce(g.next_at, 'infinity') <= p_now
    order by g.changed_at desc limit 1
    for no key update skip locked;
  end if;
  return v_endpoints;
end
$$;
comment on function outbox.due_suspect(timestamptz) is
  'Locks the gate of one endpoint that was refused before and is due, and returns the endpoint; '
  'null if there is none. locks: endpoint_refusal and the gate with SKIP LOCKED.';
