-- Refusals of the database. Because of a constraint, a trigger of the user or a damaged row, the
-- database may refuse to store the result of a delivery, to create a delivery, or to claim from an
-- endpoint. If a batch fails, the refused row is found, the rest is stored, and the refusal is
-- recorded here. After three refusals a delivery is set aside: no run claims it until retry_now().
-- A temporary error is a refusal only if it has failed the call several times (fails_call()).
-- Otherwise the run repeats the call.

create table outbox.refusal (
  event_id uuid not null,
  endpoint_id uuid not null,
  step text not null
    constraint refusal_step_is_known check (step in ('result', 'routing', 'expiry', 'claim')),
  failures integer not null,
  sqlstate text not null,
  error text not null,
  at timestamptz not null,
  again_at timestamptz not null,
  primary key (event_id, endpoint_id)
);
comment on table outbox.refusal is
  'Deliveries of which the database refused a step: result (the result of an attempt could not '
  'be stored), routing (the delivery could not be created), expiry (it could not expire, or '
  'be removed with its endpoint) or claim (it could not be leased); failures: the number of '
  'refusals; again_at: the time of the next attempt; infinity: set aside until retry_now().';
-- Both columns: with the statistics of an empty table, the planner may look up one delivery here.
create index refusal_endpoint on outbox.refusal (endpoint_id, event_id);
create index refusal_aside on outbox.refusal (at) where again_at = 'infinity';
create index refusal_waiting on outbox.refusal (again_at)
  where step = 'routing' and again_at < 'infinity';
create index refusal_waiting_endpoint on outbox.refusal (endpoint_id, again_at)
  where step = 'routing' and again_at < 'infinity';
create index refusal_claim on outbox.refusal (again_at) where step = 'claim';

create table outbox.endpoint_refusal (
  endpoint_id uuid primary key,
  failures integer not null,
  sqlstate text not null,
  error text not null,
  at timestamptz not null,
  again_at timestamptz not null
);
comment on table outbox.endpoint_refusal is
  'Endpoints from which the database refuses to claim. They are left out until again_at: 10 s at '
  'first, twice as long after each refusal, 5 minutes at most; then each is claimed from alone. '
  'failures is 0 after a claim from several endpoints that timed out.';

create function outbox.note_refusal(
  p_event_id uuid, p_endpoint_id uuid, p_step text, p_sqlstate text, p_error text,
  p_again_at timestamptz, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  insert into outbox.refusal as r (
    event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  values (p_event_id, p_endpoint_id, p_step, 1, p_sqlstate, pg_catalog.left(p_error, 500), p_now,
    p_again_at)
  on conflict (event_id, endpoint_id) do update set
    step = excluded.step, failures = r.failures + 1, sqlstate = excluded.sqlstate,
    error = excluded.error, at = excluded.at, again_at = excluded.again_at;
end
$$;
comment on function outbox.note_refusal(
  uuid, uuid, text, text, text, timestamptz, timestamptz) is
  'Records that the database refused a step of a delivery, and the time of the next attempt '
  '(infinity: not before retry_now()).';

create function outbox.forget_refusals(p_events uuid[], p_endpoints uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- By look-ups: with the statistics of an empty table, a join may read the whole table.
  delete from outbox.refusal r where r.ctid = any (array(
    select o.row_at
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select l.ctid as row_at from outbox.refusal l
      where l.endpoint_id = p.endpoint_id and l.event_id = p.event_id offset 0
    ) o
    where not exists (
      select from outbox.delivery d
      where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id offset 0)));
end
$$;
comment on function outbox.forget_refusals(uuid[], uuid[]) is
  'Removes the refusals of these deliveries, except of those that are still open.';

create function outbox.refuse_endpoint(
  p_endpoint_id uuid, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_again_at timestamptz := p_now + interval '10 s';
begin
  begin
    insert into outbox.endpoint_refusal as r (endpoint_id, failures, sqlstate, error, at, again_at)
    values (p_endpoint_id, 1, p_sqlstate, pg_catalog.left(p_error, 500), p_now, v_again_at)
    on conflict (endpoint_id) do update set
      failures = r.failures + 1, sqlstate = excluded.sqlstate, error = excluded.error,
      at = excluded.at,
      again_at = p_now + least(interval '5 minutes', interval '10 s' * 2 ^ least(r.failures, 6))
    returning r.again_at into v_again_at;
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
    raise warning 'outbox: claiming from endpoint % is refused (% %), not recorded: % %',
      p_endpoint_id,
      p_sqlstate, p_error, sqlstate, sqlerrm;
  end;
  begin
    update outbox.gate g set
      next_at = greatest(g.next_at, v_again_at), isolated_at = greatest(g.isolated_at, v_again_at),
      changed_at = pg_catalog.date_trunc('second', p_now)
    where g.endpoint_id = p_endpoint_id
      and (g.next_at < v_again_at or g.isolated_at < v_again_at);
  exception when query_canceled or assert_failure or others then
    -- The refused row may be the gate. due_gates() leaves the endpoint out anyway.
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
  end;
end
$$;
comment on function outbox.refuse_endpoint(uuid, text, text, timestamptz) is
  'Leaves an endpoint out of claiming for a while, because the database refuses to claim from it. '
  'locks: the caller holds the gate.';

create function outbox.suspect_endpoints(
  p_endpoint_ids uuid[], p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.endpoint_refusal (endpoint_id, failures, sqlstate, error, at, again_at)
  select u, 0, p_sqlstate, pg_catalog.left(p_error, 500), p_now, p_now
  from pg_catalog.unnest(p_endpoint_ids) u
  on conflict do nothing;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  raise warning 'outbox: claiming from % endpoints is refused (% %), not recorded: % %',
    pg_catalog.cardinality(p_endpoint_ids), p_sqlstate, p_error, sqlstate, sqlerrm;
end
$$;
comment on function outbox.suspect_endpoints(uuid[], text, text, timestamptz) is
  'After a claim that timed out: the next claims serve each of its endpoints alone, so that only '
  'the slow endpoint fails. locks: the caller holds the gates.';

create function outbox.admit_endpoints(p_endpoint_ids uuid[]) returns void
language plpgsql set search_path = ''
as $$
begin
  if exists (select from outbox.endpoint_refusal) then
    delete from outbox.endpoint_refusal r where r.endpoint_id = any (p_endpoint_ids);
  end if;
  perform outbox.admit_lanes(p_endpoint_ids);
end
$$;
comment on function outbox.admit_endpoints(uuid[]) is
  'Removes the refusals of endpoints after a successful claim, and of their lanes that were '
  'changed since.';
