-- Two databases of one organisation are compared by the idempotency keys of their events (see
-- carried_keys). What has none cannot be compared, so the command asks for it first.

create function outbox.keyless_events(p_org_id text, p_newest integer) returns integer
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select pg_catalog.count(*) filter (where n.idempotency_key is null
      and n.endpoint_id is null
      and pg_catalog.lower(pg_catalog.left(n.type, 8)) <> 'outhook.')
    from (
      select e.idempotency_key, e.endpoint_id, e.type from outbox.event e
      where e.org_id > ''
        and (e.org_id, e.id) >= (p_org_id, '00000000-0000-0000-0000-000000000000'::uuid)
        and e.org_id <= p_org_id
      order by e.org_id desc, e.id desc
      limit p_newest
    ) n);
end
$$;
comment on function outbox.keyless_events(text, integer) is
  'How many of the newest p_newest events of an organisation have no idempotency key, so that '
  'another database cannot be searched for them. Not counted are events for one endpoint, such as '
  'test events, and those of Outhook itself, which each database has of its own.';
