-- How many retries are due soon, for the overview. A claim reads the same entries of the same
-- indexes. It stops at a number that is enough for a page.

create function outbox.due_retries(
  p_org_id text, p_after timestamptz, p_until timestamptz
) returns jsonb
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_most constant integer := 1000;
  -- First attempts that the publisher has delayed (deliver_at) are among these rows.
  v_most_read constant integer := 10000;
begin
  return (
    select pg_catalog.jsonb_build_object(
      'total', least(v_most, pg_catalog.count(*) filter (where c.retries)),
      'capped', pg_catalog.count(*) filter (where c.retries) > v_most
        or pg_catalog.count(*) > v_most_read)
    from (
      select r.leased_until is null and (r.failed_attempts > 0 or r.lost_leases > 0) as retries
      from (
        select d.*
        from outbox.endpoint e
        cross join lateral (
          select o.* from outbox.gate o
          where o.endpoint_id = e.id order by o.changed_at desc limit 1
        ) g
        cross join lateral (
          select d.leased_until, d.failed_attempts, d.lost_leases
          from (
            (
              -- The lane of new deliveries has many dead versions: see first_lease_end().
              select l.id from outbox.lane l
              where l.gate_id = g.id and not l.ordered and l.key_hash = 0
              order by l.changed_at desc limit 1
            )
            union all
            select l.id from outbox.lane l
            where l.gate_id = g.id and not l.ordered and l.key_hash <> 0
          ) l
          cross join lateral (
            select d.leased_until, d.failed_attempts, d.lost_leases
            from outbox.delivery d
            where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= p_after and d.due_at < p_until
            limit v_most_read + 1
          ) d
          union all
          -- In an ordered lane only the deliveries of one claim can be retrying: its first ones, at
          -- most the quantum.
          select h.leased_until, h.failed_attempts, h.lost_leases
          from outbox.lane l
          cross join lateral (
            select d.* from outbox.delivery d
            where d.lane_id = l.id and d.lane_id > 0
            order by d.due_at, d.event_id limit e.quantum
          ) h
          where l.gate_id = g.id and l.ordered and not l.halted
            and l.next_at >= p_after and l.next_at < p_until and l.next_at < 'infinity'
            and greatest(l.not_before, h.due_at) >= p_after
            and greatest(l.not_before, h.due_at) < p_until
        ) d
        where e.org_id = p_org_id and e.status = 'enabled' and g.depth > 0
          and (g.breaker = 'closed' or not e.breaker_enabled)
        limit v_most_read + 1
      ) r
    ) c);
end
$$;
comment on function outbox.due_retries(text, timestamptz, timestamptz) is
  'How many deliveries of an organisation are retrying and are due from p_after on and before '
  'p_until: {"total": up to 1,000, "capped": there are more, or only the first 10,000 deliveries '
  'that are due in this time were read}.';
