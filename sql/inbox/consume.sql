-- `deno task consume` calls these functions for each message of a broker.

create function outbox.check_handler(p_function text) returns text
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_function regprocedure;
begin
  -- For an invalid name, to_regprocedure() raises an error in Postgres 15, and returns null later.
  perform pg_catalog.parse_ident(p_function);
  v_function := pg_catalog.to_regprocedure(p_function || '(jsonb)');
  if v_function is null or p_function !~ '\.' then
    perform outbox.invalid('function',
      pg_catalog.format('%s(jsonb) does not exist', coalesce(p_function, 'null')),
      'Give the schema and the name of a function of one jsonb, such as public.bill_order');
  end if;
  return (
    select pg_catalog.format('%I.%I', n.nspname, p.proname)
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.oid = v_function);
exception when invalid_parameter_value or invalid_name or syntax_error then
  raise exception using errcode = 'OH001',
    message = pg_catalog.format('function %s is not a valid name', p_function), detail = 'function',
    hint = 'Expected a schema and a name, such as public.bill_order';
end
$$;
comment on function outbox.check_handler(text) is
  'The function with this name (schema.name) that takes one jsonb, quoted as SQL needs it. OH001.';

create function outbox.consume(
  p_consumer text, p_event_id text, p_function text, p_message text
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_function text := outbox.check_handler(p_function);
begin
  if not outbox.accept_once(p_consumer, p_event_id) then
    return false;
  end if;
  execute pg_catalog.format('select %s($1)', v_function) using p_message::jsonb;
  return true;
end
$$;
comment on function outbox.consume(text, text, text, text) is
  'Calls a function (schema.name, of one jsonb) with a message (JSON text) and the caller''s '
  'rights: true. If the consumer has processed this event before: false, without a call. An error '
  'of the function is raised unchanged and rolls back the entry in the inbox. OH001.';

create function outbox.report_dead_message(
  p_consumer text,
  p_topic text,
  p_dlq_topic text,
  p_message_id text,
  p_event_type text,
  p_correlation_id text,
  p_error text,
  p_retry_count integer
) returns void
language plpgsql security definer set search_path = ''
as $$
begin
  -- An operational event must not cause another one.
  if p_event_type like 'outhook.%' then
    return;
  end if;
  perform outbox.put_news('outhook.consumer.dead_lettered', array[
    pg_catalog.json_build_object(
      'consumer', p_consumer, 'topic', p_topic, 'dlqTopic', p_dlq_topic,
      'messageId', p_message_id, 'eventType', p_event_type, 'correlationId', p_correlation_id,
      'error', pg_catalog.left(p_error, 1000), 'retryCount', p_retry_count)::text]);
  perform outbox.kick_on_commit();
end
$$;
comment on function
  outbox.report_dead_message(text, text, text, text, text, text, text, integer) is
  'Publishes outhook.consumer.dead_lettered: a consumer moved a message to its dead-letter topic '
  'or queue.';
