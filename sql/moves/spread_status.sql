-- The endpoints of one organisation over several databases, each of which gets all its events
-- (docs/many-databases.md). An endpoint is in one of them. `outhook spread-org` asks each database
-- with these functions before it moves endpoints (spread_endpoint).
--
-- The status of an endpoint says where it is, so this needs no table:
--
--   source   enabled                                      it is here
--            deleted, moved to eu-2                       it has left
--   target   paused, the endpoint moves here from eu-1    what comes meanwhile waits
--            enabled                                      it is here
--
-- The source deletes it before the target enables it. While both have it, nobody can enable it in
-- the target (endpoints/arrival), and the next run of the command begins again with what the
-- source has.

create function outbox.departure_reason(p_to text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return 'moved to ' || p_to;
end
$$;
comment on function outbox.departure_reason(text) is
  'The status_reason of a deleted endpoint that is in another database.';

create function outbox.why_endpoint_rests(p_endpoint outbox.endpoint) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = p_endpoint.org_id;
  if p_endpoint.status = 'disabled' then
    return 'is disabled: call resume_endpoint() when its receiver works, or delete_endpoint()';
  elsif p_endpoint.status_reason = outbox.move_reason(v_move) then
    return 'is paused by the move of its organisation: end this with outhook move-org first';
  elsif pg_catalog.starts_with(p_endpoint.status_reason, 'unreadable: ') then
    -- It names the function that sets the secret again, which resumes the endpoint.
    return 'is paused because it is ' || p_endpoint.status_reason;
  end if;
  return pg_catalog.format('is %s: resume it first, or delete it', p_endpoint.status);
end
$$;
comment on function outbox.why_endpoint_rests(outbox.endpoint) is
  'That an endpoint is not enabled, and what enables it, as the end of a sentence.';

create function outbox.why_endpoint_stays(p_endpoint outbox.endpoint) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_gate outbox.gate;
  v_letters bigint;
begin
  if p_endpoint.kind <> 'webhook' then
    return pg_catalog.format('is of the kind %s: only webhooks move. It may stay; otherwise create '
      'it in the other database, and delete it here', p_endpoint.kind);
  elsif p_endpoint.status <> 'enabled' then
    return outbox.why_endpoint_rests(p_endpoint);
  end if;
  select * into v_gate from outbox.gate g where g.endpoint_id = p_endpoint.id;
  -- Before the open deliveries, because those of both wait until somebody calls this.
  if exists (select from outbox.lane l where l.gate_id = v_gate.id and l.halted) then
    return 'has a lane that is halted: call resume_lane()';
  elsif exists (
    select from outbox.refusal r where r.endpoint_id = p_endpoint.id and r.again_at = 'infinity')
  then
    return 'has deliveries that were set aside: call retry_now() or cancel_delivery()';
  elsif v_gate.depth > 0 then
    return pg_catalog.format('has open deliveries: %s%s. Wait for their end, or call '
      'cancel_delivery(). If new ones come all the time, pause what publishes them', v_gate.depth,
      case when v_gate.breaker <> 'closed' then ', and its breaker is ' || v_gate.breaker end);
  end if;
  v_letters := (
    select pg_catalog.count(*) from outbox.dead_letter x
    where x.endpoint_id = p_endpoint.id and x.failed_at > '-infinity'
      and x.replayed_at is null and x.discarded_at is null);
  if v_letters > 0 then
    return pg_catalog.format('has dead letters: %s. Replay or discard them', v_letters);
  end if;
  return 'is ' || outbox.why_unreadable(p_endpoint.id);
end
$$;
comment on function outbox.why_endpoint_stays(outbox.endpoint) is
  'Why an endpoint cannot move to another database now, and what ends this, as the end of a '
  'sentence; null: it can. What is open is delivered here, so that the order of its keys stays.';

create function outbox.spread_blockers(p_org_id text) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return array(
    select case
      when m.status in ('finished', 'undone')
      then pg_catalog.format('%s: take this database out of the list in the routes of outhook '
        'consume', outbox.move_sentence(m))
      else pg_catalog.format('the move of the organisation is %s: end it with outhook move-org',
        m.status)
    end
    from outbox.org_move m where m.org_id = p_org_id and m.status <> 'live'
    union all
    select pg_catalog.format('replay job %s is %s: wait for its end, or cancel it', j.id, j.status)
    from outbox.replay_job j
    where j.status in ('running', 'paused') and coalesce(j.org_id, p_org_id) = p_org_id
    union all
    select 'events were set aside by routing: call route_again()'
    where exists (select from outbox.unroutable u where u.org_id = p_org_id)
    union all
    select 'deliveries could not be created: call retry_now() or cancel_delivery()'
    where exists (
      select from outbox.refusal r
      join outbox.endpoint e on e.id = r.endpoint_id and e.org_id = p_org_id
      where r.step = 'routing' and e.status <> 'deleted'));
end
$$;
comment on function outbox.spread_blockers(text) is
  'Why no endpoint of the organisation can leave or reach this database now, and what ends this, '
  'as sentences.';

create function outbox.spread_status(p_org_id text) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.check_org(p_org_id);
  return pg_catalog.jsonb_build_object(
    'server', outbox.server_id(),
    'version', outbox.version() ->> 'version',
    'blockers', outbox.spread_blockers(p_org_id),
    'endpoints', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'id', e.id, 'from', outbox.arrives_from(e),
        'why', case
          when outbox.arrives_from(e) is null then outbox.why_endpoint_stays(e)
        end) order by e.id), '[]')
      from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted'));
end
$$;
comment on function outbox.spread_status(text) is
  'What this database has of an organisation that is in several: {"server": server_id(), '
  '"version", "blockers": see spread_blockers(), "endpoints": [{"id", "from": the database from '
  'which it moves here, or null, "why": see why_endpoint_stays()}]}. OH001.';

create function outbox.carried_keys(p_org_id text, p_newest integer) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(n.key), '[]')
    from (
      -- No bound in time: a database that comes back has taken nothing for long.
      select e.idempotency_key as key from outbox.event e
      where e.org_id > ''
        and (e.org_id, e.id) >= (p_org_id, '00000000-0000-0000-0000-000000000000'::uuid)
        and e.org_id <= p_org_id and e.idempotency_key is not null
        and e.endpoint_id is null
      order by e.org_id desc, e.id desc
      limit p_newest
    ) n);
end
$$;
comment on function outbox.carried_keys(text, integer) is
  'The idempotency keys of the newest p_newest events of an organisation that have one. An event '
  'has the same key in all databases that take it. Events of Outhook itself have none, and those '
  'for one endpoint are left out: only the database that has the endpoint takes them.';
