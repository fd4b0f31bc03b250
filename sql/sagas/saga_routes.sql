-- Not SECURITY DEFINER: the steps run with the rights of the role of the API key. The default of
-- p_search_path is evaluated before the function's own search path applies, so it is the caller's.

create function outbox.execute_org_saga(
  p_org_id text,
  p_name text,
  p_context text,
  p_key text default null,
  p_traceparent text default null,
  p_by_token boolean default false,
  p_search_path text default pg_catalog.current_setting('search_path')
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_result jsonb;
  v_detail text;
  v_hint text;
begin
  if p_by_token and exists (
    select from outbox.saga s where s.name = p_name and not s.by_tokens)
  then
    raise exception using errcode = 'OH009',
      message = pg_catalog.format('saga %s is executed with a secret key only', p_name),
      hint = 'Call from your backend, or define the saga with p_by_tokens => true';
  end if;
  v_result := outbox.execute_saga(p_name, p_context::jsonb, p_org_id, p_key, p_traceparent);
  -- Only what the application has deferred runs in the caller's search path, as it would at the
  -- commit.
  perform pg_catalog.set_config('search_path', p_search_path, true);
  begin
    -- At the commit, the text of an error with one of Outhook's SQLSTATEs would be taken for
    -- Outhook's own, which a token receives.
    set constraints all immediate;
  exception
    -- Temporary errors are raised unchanged, so that the caller can repeat the request. They are
    -- those of is_passing(), which the role of the API key may not execute.
    when transaction_rollback or insufficient_resources or operator_intervention
      or read_only_sql_transaction or object_in_use or lock_not_available
    then
      raise;
    when assert_failure or others then
      get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
      raise exception using errcode = 'OH007',
        message = pg_catalog.format('saga %s failed after its last step: %s', p_name, sqlerrm),
        detail = pg_catalog.jsonb_build_object('saga', p_name, 'code', sqlstate,
          'cause', sqlerrm, 'detail', v_detail)::text,
        hint = v_hint;
  end;
  -- The search path of this function again: see close_new().
  perform pg_catalog.set_config('search_path', 'pg_temp', true);
  return pg_catalog.jsonb_build_object(
    'id', v_result -> 'id', 'saga', v_result -> 'saga',
    'steps', (
      select pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('function', s.value -> 'function',
          'eventType', s.value -> 'event_type', 'eventId', s.value -> 'event_id')
        order by s.ordinality)
      from pg_catalog.jsonb_array_elements(v_result -> 'steps') with ordinality s),
    'eventIds', v_result -> 'event_ids', 'context', (v_result -> 'context')::text,
    'repeated', v_result -> 'repeated');
end
$$;
comment on function outbox.execute_org_saga(text, text, text, text, text, boolean, text) is
  'Executes a saga as execute_saga() does: {"id", "saga", "steps": [{"function", "eventType", '
  '"eventId"}], "eventIds", "context", "repeated"}. The context is JSON text in both directions, '
  'so that no number in it is rounded. p_by_token: the caller has a token, not a secret key. '
  'p_search_path: that of the caller, for its deferred constraints and triggers. OH001, OH002, '
  'OH003; OH007: a step failed, or a deferred constraint or trigger after the steps (then detail '
  'has neither "step" nor "function"); temporary errors are raised unchanged; OH009: the saga is '
  'not defined for tokens. For the last call in a transaction: deferred constraints stay immediate '
  'after it.';
