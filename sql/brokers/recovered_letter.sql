-- Recovery on the side of the broker. `deno task dlq:replay` publishes a dead letter from its
-- dead-letter topic to the original topic again. It first claims the dead letter here (at_broker),
-- then publishes it, and then records the result. So a dead letter has one status: what was
-- replayed or discarded here is not published again there, and what was published there is not open
-- here. A dead letter names the topic at its time. If its endpoint publishes to another one now,
-- the task leaves it, and replay() publishes it to the topic of now. A task that ended between
-- claim and record claims the dead letter again. If none does, the tick opens the dead letter again
-- after an hour.

create index dead_letter_at_broker on outbox.dead_letter (replayed_at)
where at_broker and discarded_at is null;

create function outbox.claim_broker_replay(
  p_event_id uuid, p_endpoint_id uuid, p_kind text, p_topic text, p_exchange text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_letter outbox.dead_letter;
  v_endpoint outbox.endpoint;
  v_exchange text;
  v_is_open boolean;
  v_claimed boolean := false;
  v_target text;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  select x.* into v_letter from outbox.dead_letter x
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  -- Everybody who may write to a dead-letter topic can name any dead letter.
  select e.* into v_endpoint from outbox.endpoint e
  where e.id = p_endpoint_id and e.kind = p_kind and e.kind in ('rabbitmq', 'kafka');
  v_is_open := v_letter.id is not null and v_endpoint.id is not null
    and v_letter.discarded_at is null and v_letter.delivered_at is null
    and (v_letter.replayed_at is null or v_letter.at_broker);
  v_target := outbox.broker_target(v_letter, v_endpoint);
  v_exchange := coalesce(v_endpoint.config ->> 'exchange', '');
  -- replay() cannot publish the dead letters of a deleted endpoint.
  if v_is_open and (v_endpoint.status = 'deleted'
    or v_target = p_topic and coalesce(p_exchange, v_exchange) = v_exchange)
  then
    update outbox.dead_letter x set replayed_at = v_now, at_broker = true
    where x.id = v_letter.id;
    v_claimed := true;
  end if;
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'endpoint_id', p_endpoint_id,
    'claimed', v_claimed, 'is_stored', v_letter.id is not null,
    'moved_to', case
      when v_claimed or not v_is_open then null
      when p_kind = 'rabbitmq' then v_exchange || '/' || v_target
      else v_target
    end);
end
$$;
comment on function outbox.claim_broker_replay(uuid, uuid, text, text, text) is
  'Claims an open dead letter of a broker endpoint for task dlq:replay, which then publishes it '
  'and calls record_broker_replay(): {"event_id", "endpoint_id", "claimed": false if it was '
  'replayed, delivered or discarded, is not stored, is of another kind of endpoint than p_kind, or '
  'its endpoint publishes elsewhere, "is_stored", "moved_to": null, or if its endpoint publishes '
  'elsewhere now: the topic, or exchange/routing key}. Where a deleted endpoint publishes is not '
  'compared. p_topic, p_exchange: where the task publishes it; p_exchange null: as the endpoint '
  'says.';

create function outbox.record_broker_replay(
  p_event_id uuid, p_endpoint_id uuid, p_published boolean default true
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_letter outbox.dead_letter;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  update outbox.dead_letter x set
    replayed_at = case when p_published then x.replayed_at end,
    delivered_at = case when p_published then v_now end,
    at_broker = false
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id and x.at_broker
    and x.delivered_at is null and x.discarded_at is null
  returning x.* into v_letter;
  if v_letter.id is not null and p_published then
    -- The end of this delivery in its history, as after any other replay.
    insert into outbox.attempt (
      event_id, endpoint_id, attempt, at, kind, outcome, error, failed_attempts)
    values (p_event_id, p_endpoint_id, v_letter.attempt, v_now, 'close', 'delivered',
      'published again from its dead-letter topic', 0);
  elsif v_letter.id is not null then
    perform outbox.announce_dead(array[p_event_id], array[p_endpoint_id]);
  end if;
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'endpoint_id', p_endpoint_id,
    'recorded', v_letter.id is not null);
end
$$;
comment on function outbox.record_broker_replay(uuid, uuid, boolean) is
  'Records the result of a claimed dead letter: it was published again, and so is delivered, or '
  'the broker refused it (p_published false), and so is open again: {"event_id", "endpoint_id", '
  '"recorded": false if it is not claimed (any more)}.';

create function outbox.abandoned_letters(
  p_before timestamptz, p_now timestamptz, p_most integer
) returns uuid[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup. Without a sort only
-- dead_letter_at_broker gives the order of the oldest ones.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select o.id
    from (
      select x.id, x.replayed_at,
        pg_catalog.row_number() over (partition by x.endpoint_id order by x.replayed_at) as turn
      from (
        select l.id, l.endpoint_id, l.replayed_at from outbox.dead_letter l
        where l.at_broker and l.discarded_at is null and l.replayed_at < p_before
          and not exists (
            select from outbox.upkeep_refusal r
            where r.task = 'outbox.end_broker_claims' and r.at > p_now - interval '1 minute'
              and r.member = outbox.row_name('outbox.dead_letter', l.ctid))
        order by l.replayed_at limit 10 * p_most
      ) x
    ) o
    order by o.turn, o.replayed_at
    limit p_most);
end
$$;
comment on function outbox.abandoned_letters(timestamptz, timestamptz, integer) is
  'Up to p_most dead letters that task dlq:replay claimed before p_before, without those that the '
  'database refused to change within a minute. Among the oldest ones, ten times as many, the '
  'endpoints take turns: the gate of one may be locked.';

create function outbox.end_broker_claims(p_now timestamptz, p_most integer) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_before constant timestamptz := p_now - interval '1 hour';
  v_letters uuid[];
  v_endpoints uuid[];
begin
  if pg_catalog.floor(extract(epoch from p_now))::bigint % 10 <> 0 then
    return;
  end if;
  v_letters := outbox.abandoned_letters(v_before, p_now, p_most);
  if pg_catalog.cardinality(v_letters) = 0 then
    return;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select distinct x.endpoint_id from outbox.dead_letter x where x.id = any (v_letters)));
  -- An endpoint that was purged has no gate, so a call of record_broker_replay() may change its
  -- dead letter meanwhile, and announces it itself: leave out a letter that another session holds.
  v_letters := array(
    select l.id
    from (
      select x.id from outbox.dead_letter x
      where x.id = any (v_letters) and x.at_broker and x.discarded_at is null
        and x.delivered_at is null and x.replayed_at < v_before
        and (x.endpoint_id = any (v_endpoints)
          or not exists (select from outbox.gate g where g.endpoint_id = x.endpoint_id))
      for no key update of x skip locked
    ) l);
  perform outbox.change_rows('outbox.end_broker_claims', 'outbox.dead_letter',
    'update outbox.dead_letter x set replayed_at = null, at_broker = false '
      'where x.ctid = any ($1)',
    array(select x.ctid from outbox.dead_letter x where x.id = any (v_letters)), p_now,
    '1 hour');
  -- The claim of the last one has closed the alert of its endpoint.
  perform outbox.announce_dead(pg_catalog.array_agg(x.event_id),
    pg_catalog.array_agg(x.endpoint_id))
  from outbox.dead_letter x
  where x.id = any (v_letters) and x.replayed_at is null
  having pg_catalog.count(*) > 0;
end
$$;
comment on function outbox.end_broker_claims(timestamptz, integer) is
  'Step of the tick: opens dead letters again that task dlq:replay claimed an hour ago and has not '
  'recorded, and announces them. locks: gates, then dead letters, with SKIP LOCKED.';

insert into outbox.tick_step (name, calls, most) values
  ('broker claims', 'outbox.end_broker_claims', 100);
