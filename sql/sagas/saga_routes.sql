-- Not SECURITY DEFINER: the steps run with the rights of the role of the API key.

create function outbox.execute_org_saga(
  p_org_id text,
  p_name text,
  p_context text,
  p_key text default null,
  p_traceparent text default null
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_result jsonb := outbox.execute_saga(p_name, p_context::jsonb, p_org_id, p_key, p_traceparent);
begin
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
comment on function outbox.execute_org_saga(text, text, text, text, text) is
  'Executes a saga as execute_saga() does: {"id", "saga", "steps": [{"function", "eventType", '
  '"eventId"}], "eventIds", "context", "repeated"}. The context is JSON text in both directions, '
  'so that no number in it is rounded. OH001, OH002, OH003, OH007.';
