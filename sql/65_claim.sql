-- Claiming: the gates whose turn it is, what has been lost of theirs, and what they give.

create function outbox.claim(
  p_limit integer, p_touched uuid[], p_now timestamptz
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
declare
  v_endpoints uuid[];
  v_claimed outbox.claimed;
  v_served uuid[];
begin
  if p_touched is not null then
    perform outbox.park(p_touched, p_now);
  end if;
  if p_limit > 0 then
    v_endpoints := outbox.due_gates(p_limit, p_now);
  end if;
  if v_endpoints is not null then
    if outbox.lose_leases(v_endpoints, p_now) > 0 then
      perform outbox.park(v_endpoints, p_now);
    end if;
  end if;
  -- A lane may be due in vain, its first delivery having been put off or the clock set back. What
  -- take() saw only such lanes of goes on to its next ones: every look puts some of them aside. The
  -- number is a precaution.
  for v_look in 1 .. 100 loop
    exit when v_endpoints is null;
    v_claimed := outbox.take(v_endpoints, p_limit, p_now);
    v_served := v_claimed.endpoints;
    if v_claimed.events is not null and exists (select from outbox.whatsapp_channel) then
      v_claimed := outbox.take_messages(v_claimed, p_now);
    end if;
    perform outbox.park(v_endpoints, p_now, v_served);
    exit when v_claimed.events is not null;
    v_endpoints := outbox.still_due(v_endpoints, p_now);
  end loop;
  return v_claimed;
end
$$;
comment on function outbox.claim(integer, uuid[], timestamptz) is
  'Parks the gates that complete() and route() touched, then leases up to p_limit deliveries '
  'from the gates that are due.';

create function outbox.claimed_before(
  p_run uuid, p_seq bigint, p_now timestamptz
) returns outbox.claimed
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_claimed outbox.claimed;
begin
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.tries),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (
    select d.event_id, d.endpoint_id, d.attempt, d.tries, d.lane_id, l.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms
    from outbox.run_batch b
    cross join lateral unnest(b.events, b.endpoints, b.attempts) with ordinality
      as c (event_id, endpoint_id, attempt, place)
    cross join lateral (
      select d.* from outbox.delivery d
      where d.event_id = c.event_id and d.endpoint_id = c.endpoint_id and d.attempt = c.attempt
        and d.leased_until > p_now offset 0
    ) d
    cross join lateral (
      select l.ordered from outbox.lane l
      where l.id = d.lane_id order by l.changed_at desc limit 1
    ) l
    where b.run_id = p_run and b.seq = p_seq
    order by c.place
  ) h;
  return v_claimed;
end
$$;
comment on function outbox.claimed_before(uuid, bigint, timestamptz) is
  'What an earlier call of a run claimed, of it what is still leased.';
