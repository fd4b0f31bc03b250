-- Which deliveries of an endpoint the database lets be leased. refuse_rows() asks after a failed
-- claim (refused_claim). Each lease is tried and undone, first of the deliveries that are due
-- first. If all of them are refused, the last ones are tried too: a cause in the endpoint refuses
-- all.

create function outbox.rows_to_lease(
  p_endpoint_id uuid, p_isolated boolean, p_most integer, p_now timestamptz
) returns outbox.delivery[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  -- As lease_deliveries() reads them.
  return array(
    select d.free
    from outbox.gate g
    cross join lateral (
      select l.id, l.ordered, l.head_at, l.next_at from outbox.lane l
      where l.gate_id = g.id and l.next_at <= p_now and l.next_at < 'infinity'
        and l.next_at >= case when p_isolated then '-infinity' else g.lanes_from end
        and l.isolated = p_isolated
        and (not l.ordered or l.leased = 0)
      order by l.next_at limit p_most
    ) l
    cross join lateral (
      select o as free from outbox.delivery o
      where o.lane_id = l.id and o.lane_id > 0 and o.due_at >= l.head_at
        and o.due_at <= case when l.ordered then 'infinity' else p_now end
        and o.leased_until is null
        and (
          select case when l.ordered then r.again_at = 'infinity' else r.again_at > p_now end
          from outbox.refusal r
          where r.endpoint_id = o.endpoint_id and r.event_id = o.event_id and r.step = 'claim'
        ) is not true
      order by o.due_at, o.event_id limit case when l.ordered then p_most else 8 * p_most end
    ) d
    where g.endpoint_id = p_endpoint_id
    order by l.next_at, l.id, (d.free).due_at, (d.free).event_id);
end
$$;
comment on function outbox.rows_to_lease(uuid, boolean, integer, timestamptz) is
  'All deliveries of an endpoint that a claim of up to p_most deliveries may lease, and of an '
  'unordered lane eight times as many, lane by lane.';

create function outbox.newest_to_lease(
  p_endpoint_id uuid, p_most integer, p_now timestamptz
) returns outbox.delivery[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return array(
    select d.free
    from outbox.gate g
    cross join lateral (
      select l.id, l.head_at from outbox.lane l
      where l.gate_id = g.id and l.next_at <= p_now and l.next_at < 'infinity'
        and l.next_at >= g.lanes_from and not l.isolated and not l.ordered
      order by l.next_at limit 1
    ) l
    cross join lateral (
      select o as free from outbox.delivery o
      where o.lane_id = l.id and o.lane_id > 0 and o.due_at >= l.head_at and o.due_at <= p_now
        and o.leased_until is null
      order by o.due_at desc, o.event_id desc limit p_most
    ) d
    where g.endpoint_id = p_endpoint_id);
end
$$;
comment on function outbox.newest_to_lease(uuid, integer, timestamptz) is
  'The last due deliveries of the first unordered lane of an endpoint.';

create function outbox.try_lease(p_delivery outbox.delivery, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.delivery d set attempt = d.attempt + 1, leased_until = p_now + interval '1 s'
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  raise exception using errcode = 'OH000', message = 'the lease was only tried';
exception when sqlstate 'OH000' then
  return;
end
$$;
comment on function outbox.try_lease(outbox.delivery, timestamptz) is
  'Leases a delivery and undoes that. Raises the error if the database refuses it.';

create function outbox.can_lease_one(
  p_deliveries outbox.delivery[], p_now timestamptz
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_delivery outbox.delivery;
begin
  foreach v_delivery in array p_deliveries loop
    begin
      perform outbox.try_lease(v_delivery, p_now);
      return true;
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      end if;
      exit when outbox.is_timeout(sqlstate);
    end;
  end loop;
  return false;
end
$$;
comment on function outbox.can_lease_one(outbox.delivery[], timestamptz) is
  'Whether the database lets at least one of these deliveries be leased.';

create function outbox.has_unrefused(p_deliveries outbox.delivery[]) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (
    select from unnest(p_deliveries) d
    where not exists (
      select from outbox.refusal r
      where r.endpoint_id = d.endpoint_id and r.event_id = d.event_id and r.step = 'claim'));
end
$$;
comment on function outbox.has_unrefused(outbox.delivery[]) is
  'Whether the database has not refused to lease at least one of these deliveries before.';
