-- Kinds of endpoints that a run cannot send. A process may have no sender for a kind: a worker
-- without the sender of your own kind, or a bundle without the client of a broker. So each call of
-- a run names the kinds that it can send (p_contract), and it gets deliveries of no other kind. An
-- older run names none, and gets all.
--
-- If no live run can send a kind, its due gates wait for 10 s of each 15 s: otherwise they would
-- start a run each second. For the other 5 s they stay due, also beside a worker that polls: so the
-- tick starts an edge run, which may have the sender. waiting_kind records that, and queue_health
-- shows it.

create unlogged table outbox.waiting_kind (
  kind text primary key,
  at timestamptz not null
);
comment on table outbox.waiting_kind is
  'Kinds with due deliveries that no live run can send. at: when a run last left them out; after a '
  'minute without that, nothing waits any more.';

create function outbox.set_run_kinds(p_kinds jsonb) returns text[]
language plpgsql
set search_path = ''
as $$
declare
  v_kinds text[];
  v_unsent text[] := array[]::text[];
begin
  if pg_catalog.jsonb_typeof(p_kinds) = 'array' then
    v_kinds := array(select k from pg_catalog.jsonb_array_elements_text(p_kinds) k);
    v_unsent := array(select k.kind from outbox.endpoint_kind k where k.kind <> all (v_kinds));
  end if;
  perform pg_catalog.set_config('outbox.unsent_kinds', v_unsent::text, true);
  return v_kinds;
end
$$;
comment on function outbox.set_run_kinds(jsonb) is
  'Sets which kinds the claims of this transaction leave out: all but these. p_kinds: an array of '
  'names; anything else leaves out none. Returns the names, or null.';

create function outbox.unsent_kinds() returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    nullif(pg_catalog.current_setting('outbox.unsent_kinds', true), ''), '{}')::text[];
end
$$;
comment on function outbox.unsent_kinds() is
  'The kinds that the run of this transaction cannot send: see set_run_kinds().';

create function outbox.is_unsent(p_endpoint_id uuid, p_unsent text[]) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (
    select from outbox.endpoint e where e.id = p_endpoint_id and e.kind = any (p_unsent));
end
$$;
comment on function outbox.is_unsent(uuid, text[]) is
  'Whether an endpoint has one of these kinds.';

create function outbox.alive_since(p_now timestamptz) returns timestamptz
language plpgsql stable security definer set search_path = ''
as $$
begin
  return p_now - greatest(interval '10 s',
    outbox.setting_int('worker.poll_interval_ms') * interval '1 ms');
end
$$;
comment on function outbox.alive_since(timestamptz) is
  'A run that has not polled since this time counts as dead: for 10 s, or for '
  'worker.poll_interval_ms if that is longer. An idle worker polls about three times in it.';

create function outbox.is_sent(p_kind text, p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from outbox.run r
    where r.ended_at is null and r.polled_at > outbox.alive_since(p_now)
      and p_kind = any (coalesce(r.kinds, array[p_kind])));
end
$$;
comment on function outbox.is_sent(text, timestamptz) is
  'Whether a live run can send a kind: see alive_since().';

create function outbox.park_unsent(p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
  -- For 5 s of each 15 s they stay due: the tick then starts a run, which may have the sender.
  v_period numeric := pg_catalog.floor(extract(epoch from p_now) / 15) * 15;
  v_until timestamptz := pg_catalog.to_timestamp((v_period + 15)::double precision);
  v_stays boolean := extract(epoch from p_now) < v_period + 5;
  v_kinds text[];
  v_endpoints uuid[];
begin
  v_kinds := array(
    select k from pg_catalog.unnest(outbox.unsent_kinds()) k
    where not outbox.is_sent(k, p_now));
  if pg_catalog.cardinality(v_kinds) = 0 then
    return;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select d.endpoint_id
    from (
      (
        select g.endpoint_id from outbox.gate g
        where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
        order by g.next_at limit 5000
      )
      union
      select g.endpoint_id from outbox.gate g
      where g.isolated_at <= p_now and g.isolated_at < 'infinity'
    ) d
    where outbox.is_unsent(d.endpoint_id, v_kinds)));
  if pg_catalog.cardinality(v_endpoints) = 0 then
    return;
  end if;
  if not v_stays then
    update outbox.gate g set
      next_at = greatest(g.next_at, v_until),
      isolated_at = greatest(g.isolated_at, v_until),
      changed_at = pg_catalog.date_trunc('second', p_now)
    where g.endpoint_id = any (v_endpoints);
  end if;
  -- A row of the last seconds is new enough. Not updating it avoids waiting for its lock.
  insert into outbox.waiting_kind (kind, at)
  select distinct e.kind, p_now from outbox.endpoint e
  where e.id = any (v_endpoints) and not exists (
    select from outbox.waiting_kind w
    where w.kind = e.kind and w.at > p_now - interval '5 s' and w.at <= p_now)
  order by e.kind
  on conflict (kind) do update set at = excluded.at;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  raise warning 'outbox: the endpoints that this run cannot send stay due: % %', sqlstate, sqlerrm;
end
$$;
comment on function outbox.park_unsent(timestamptz) is
  'Delays the due gates of the kinds that no live run can send until the next 15 s begin, except '
  'in the first 5 s of each 15 s, and records these kinds. locks: gates with SKIP LOCKED.';

create function outbox.kind_problem(p_now timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.string_agg(
      pg_catalog.format('deliveries wait for a run that can send kind %s: deploy functions, or '
        'start a worker, with its sender (runbook: No sender)', w.kind), '; ' order by w.kind)
    from outbox.waiting_kind w
    where w.at > p_now - interval '1 minute' and not outbox.is_sent(w.kind, p_now));
end
$$;
comment on function outbox.kind_problem(timestamptz) is
  'The kinds with due deliveries that no live run can send; null if there is none.';
