-- What the HTTP API shows of sagas: the definitions, and the log of an execution. The log has the
-- events of the steps. Their correlation id and their partition key are the id of the execution.

create function outbox.saga_json(p_saga outbox.saga) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('name', p_saga.name, 'byTokens', p_saga.by_tokens,
    'definedAt', outbox.iso_time(p_saga.created_at),
    'steps', coalesce((
      select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('function', s.function,
        'eventType', s.event_type) order by s.position)
      from outbox.saga_step s where s.saga = p_saga.name), '[]'));
end
$$;
comment on function outbox.saga_json(outbox.saga) is
  'A saga in the form of the API: {"name", "byTokens", "definedAt", "steps": [{"function", '
  '"eventType"}]}.';

create function outbox.list_sagas(p_by_token boolean default false) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.saga_json(s) order by s.name)
    from outbox.saga s where s.by_tokens or not p_by_token), '[]'));
end
$$;
comment on function outbox.list_sagas(boolean) is
  'All sagas by name: {"data": [saga_json()]}. p_by_token: only those that tokens may execute.';

create function outbox.get_saga(p_name text, p_by_token boolean default false) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_saga outbox.saga;
begin
  select * into v_saga from outbox.saga s
  where s.name = p_name and (s.by_tokens or not p_by_token);
  if not found then
    perform outbox.raise_unknown_saga(p_name);
  end if;
  return outbox.saga_json(v_saga);
end
$$;
comment on function outbox.get_saga(text, boolean) is
  'One saga: saga_json(). OH002, also for a caller with a token (p_by_token) if tokens may not '
  'execute it.';

create function outbox.get_saga_execution(p_org_id text, p_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_at timestamptz := outbox.uuid_v7_time(p_id);
  v_steps jsonb;
begin
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'eventId', e.id, 'eventType', e.type, 'createdAt', outbox.iso_time(e.created_at),
      'deliveries', coalesce((
        select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('endpointId', s.endpoint_id,
            'status', s.status, 'reason', s.held_because, 'attempt', s.attempt,
            'nextAttemptAt', outbox.iso_time(s.next_attempt_at),
            'finishedAt', outbox.iso_time(s.finished_at)) order by s.endpoint_id)
        from outbox.delivery_status s where s.event_id = e.id), '[]')) order by e.id)
  into v_steps
  from (
    select o.id, o.type, o.created_at from outbox.event o
    -- A range of one value, as in found_events() of the module api.
    where o.org_id = p_org_id and o.correlation_id >= p_id::text
      and o.correlation_id <= p_id::text and o.correlation_id is not null
      and o.partition_key = p_id::text
      -- A transaction of a saga is short: this selects the partitions.
      and o.id >= outbox.uuid_v7_floor(v_at)
      and o.id < outbox.uuid_v7_floor(v_at + interval '1 day')
    -- In the order of an index of the module api, which has the route.
    order by o.correlation_id, o.id limit 100
  ) e;
  if v_steps is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('execution %s does not exist',
        pg_catalog.quote_nullable(p_id::text)),
      hint = 'Use the id that the execution returned; it is found as long as its events are stored';
  end if;
  return pg_catalog.jsonb_build_object('id', p_id, 'executedAt', outbox.iso_time(v_at),
    'steps', v_steps);
end
$$;
comment on function outbox.get_saga_execution(text, uuid) is
  'The log of an execution of a saga: {"id", "executedAt", "steps": [{"eventId", "eventType", '
  '"createdAt", "deliveries": [{"endpointId", "status", "reason", "attempt", "nextAttemptAt", '
  '"finishedAt"}]}]}, in the order of the steps. OH002.';
