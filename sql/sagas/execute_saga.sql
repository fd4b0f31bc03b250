-- execute_saga() and run_step() run with the caller's rights. begin_saga() and end_saga() are
-- SECURITY DEFINER, because they read the saga and store the idempotency key.

create function outbox.begin_saga(
  p_name text, p_context jsonb, p_org_id text, p_idempotency_key text
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_steps jsonb;
  v_content bytea;
  v_existing outbox.saga_key;
begin
  perform outbox.check_user_org(p_org_id);
  if p_idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('idempotency_key', 'is not 1 to 255 visible ASCII characters',
      'Use an id without spaces');
  end if;
  if pg_catalog.jsonb_typeof(p_context) is distinct from 'object' then
    perform outbox.invalid('context', 'is not a JSON object', 'Expected something like {"id": 1}');
  end if;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
    'function', s.function, 'event_type', s.event_type) order by s.position)
  into v_steps
  from outbox.saga_step s
  where s.saga = p_name;
  if v_steps is null then
    perform outbox.raise_unknown_saga(p_name);
  end if;
  if p_idempotency_key is not null then
    v_content := pg_catalog.sha256(pg_catalog.convert_to(
      pg_catalog.jsonb_build_array(p_name, p_context)::text, 'UTF8'));
    insert into outbox.saga_key as k (org_id, key, saga, content, created_at)
    values (p_org_id, p_idempotency_key, p_name, v_content, v_now)
    on conflict (org_id, key) do update
      set saga = excluded.saga, content = excluded.content, result = null,
        created_at = excluded.created_at
      where k.created_at <= excluded.created_at - outbox.key_window();
    if not found then
      select * into v_existing from outbox.saga_key k
      where k.org_id = p_org_id and k.key = p_idempotency_key;
      if v_existing.content <> v_content then
        raise exception using errcode = 'OH003',
          message = pg_catalog.format(
            'idempotency_key was used within %s hours for another saga or context',
            outbox.setting_int('idempotency.window_hours')),
          hint = 'Use a new key for a new execution, or the same name and context';
      end if;
      return v_existing.result || '{"repeated": true}'::jsonb;
    end if;
  end if;
  return pg_catalog.jsonb_build_object('id', outbox.uuid_v7(v_now), 'steps', v_steps);
end
$$;
comment on function outbox.begin_saga(text, jsonb, text, text) is
  'Part of execute_saga(): checks its arguments and inserts the idempotency key. Returns {"id", '
  '"steps": [{"function", "event_type"}]}, or the result of the earlier execution with this key, '
  'with "repeated": true. OH001, OH002, OH003.';

create function outbox.end_saga(
  p_org_id text, p_idempotency_key text, p_result jsonb
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  update outbox.saga_key k set result = p_result
  where k.org_id = p_org_id and k.key = p_idempotency_key and k.result is null;
  return p_result || '{"repeated": false}'::jsonb;
end
$$;
comment on function outbox.end_saga(text, text, jsonb) is
  'Part of execute_saga(): stores the result with its idempotency key and returns it with '
  '"repeated": false.';

create function outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb)
returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_result jsonb;
  v_detail text;
  v_hint text;
begin
  execute pg_catalog.format('select %s($1)', p_function) into v_result using p_context;
  if pg_catalog.jsonb_typeof(coalesce(v_result, '{}')) <> 'object' then
    raise exception using errcode = 'OH001', message = 'the step did not return a JSON object',
      hint = 'Return the members to add to the context, such as {"payment": 7}, or null';
  end if;
  return coalesce(v_result, '{}');
exception
  -- Temporary errors are raised unchanged, so that the caller can repeat the transaction. They are
  -- those of is_passing(), which the role of the caller may not execute.
  when transaction_rollback or insufficient_resources or operator_intervention
    or read_only_sql_transaction or object_in_use or lock_not_available
  then
    raise;
  when assert_failure or others then
    get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    raise exception using errcode = 'OH007',
      message = pg_catalog.format('saga %s failed at step %s, %s: %s', p_saga, p_place, p_function,
        sqlerrm),
      detail = pg_catalog.jsonb_build_object('saga', p_saga, 'step', p_place,
        'function', p_function, 'code', sqlstate, 'cause', sqlerrm, 'detail', v_detail)::text,
      hint = v_hint;
end
$$;
comment on function outbox.run_step(text, integer, text, jsonb) is
  'Part of execute_saga(): calls one step with the caller''s rights and returns the members to '
  'add to the context. OH007: the step failed. The message names the saga, the step and the '
  'cause; detail is JSON: {"saga", "step", "function", "code": the step''s SQLSTATE, "cause", '
  '"detail"}. Temporary errors are raised unchanged: serialization failures and deadlocks (40), '
  'exhausted resources (53), cancelled statements (57), a read-only database (25006), objects in '
  'use (55006) and lock timeouts (55P03).';

create function outbox.execute_saga(
  p_name text,
  p_context jsonb default '{}',
  p_org_id text default 'default',
  p_idempotency_key text default null,
  p_traceparent text default null
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_started jsonb := outbox.begin_saga(p_name, p_context, p_org_id, p_idempotency_key);
  v_id text := v_started ->> 'id';
  v_context jsonb := p_context;
  v_steps jsonb := '[]'::jsonb;
  v_step record;
  v_added jsonb;
  v_event uuid;
  v_org_before text := pg_catalog.current_setting('outhook.org_id', true);
begin
  if v_started ? 'repeated' then
    return v_started;
  end if;
  -- The steps read the organisation from this setting, because the caller chooses the context.
  perform pg_catalog.set_config('outhook.org_id', p_org_id, true);
  for v_step in
    select s.value ->> 'function' as function, s.value ->> 'event_type' as event_type,
      s.ordinality::integer as place
    from pg_catalog.jsonb_array_elements(v_started -> 'steps') with ordinality s
  loop
    v_added := outbox.run_step(p_name, v_step.place, v_step.function, v_context);
    v_context := v_context || v_added;
    -- One partition key, so that an ordered endpoint keeps the order of the steps.
    v_event := outbox.publish(v_step.event_type, v_added, p_org_id, p_partition_key => v_id,
      p_correlation_id => v_id, p_traceparent => p_traceparent);
    v_steps := v_steps || pg_catalog.jsonb_build_object('function', v_step.function,
      'event_type', v_step.event_type, 'event_id', v_event);
  end loop;
  perform pg_catalog.set_config('outhook.org_id', coalesce(v_org_before, ''), true);
  return outbox.end_saga(p_org_id, p_idempotency_key, pg_catalog.jsonb_build_object(
    'id', v_id, 'saga', p_name, 'steps', v_steps,
    'event_ids', pg_catalog.jsonb_path_query_array(v_steps, '$[*].event_id'),
    'context', v_context));
end
$$;
comment on function outbox.execute_saga(text, jsonb, text, text, text) is
  'Runs the steps of a saga in the caller''s transaction and with the caller''s rights. Each '
  'step''s result is the payload of its event (correlation id and partition key: the saga''s id) '
  'and is merged into the context of the next step. A step reads its organisation from '
  'current_setting(''outhook.org_id''). Returns {"id", "saga", "steps": [{"function", '
  '"event_type", "event_id"}], "event_ids", "context", "repeated": true if an earlier execution '
  'with this key returned this}. OH001; OH002: the saga does not exist; OH003: the key was used '
  'for another saga or context; OH007: a step failed, and all steps are rolled back.';

create function outbox.forget_saga_keys(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_saga_keys', 'outbox.saga_key',
    'delete from outbox.saga_key k where k.ctid = any ($1) '
      'and k.created_at < $2 - outbox.key_window()',
    array(
      select o.ctid from outbox.saga_key o
      where o.created_at < p_now - outbox.key_window() order by o.created_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_saga_keys(timestamptz, integer) is
  'Deletes up to p_limit idempotency keys of sagas older than idempotency.window_hours; returns '
  'how many.';

insert into outbox.cleanup_step (name, calls) values
  ('saga_keys', 'outbox.forget_saga_keys');
