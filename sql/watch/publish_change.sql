-- The event of one change of a watched table. The payload is that of a Supabase Database Webhook,
-- so a receiver of those can read it: {"type": "INSERT", "table", "schema", "record",
-- "old_record"}.

create function outbox.publish_change(
  p_watch jsonb, p_schema text, p_table text, p_op text, p_change outbox.watched_change
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_detail text;
  v_hint text;
begin
  perform outbox.put_event(outbox.new_event(
    outbox.event_time(),
    pg_catalog.replace(p_watch ->> 'type', '{op}',
      case p_op when 'INSERT' then 'inserted' when 'UPDATE' then 'updated' else 'deleted' end),
    -- Not a function: a call costs 3 us of each row. unpublish_moved() has the same expression.
    pg_catalog.json_build_object('type', p_op, 'table', p_table, 'schema', p_schema,
      'record', p_change.record, 'old_record', p_change.old_record)::text,
    coalesce(p_change.org_id, p_watch ->> 'org_id'),
    case
      when pg_catalog.length(p_change.partition_key) > 256 then
        pg_catalog.encode(
          pg_catalog.sha256(pg_catalog.convert_to(p_change.partition_key, 'UTF8')), 'hex')
      else p_change.partition_key
    end,
    null, null, null, null, null));
exception when sqlstate 'OH001' or sqlstate 'OH011' or sqlstate 'OH012' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = sqlstate, detail = v_detail, hint = v_hint,
    message = pg_catalog.format('the change of %I.%I cannot be published: %s', p_schema, p_table,
      sqlerrm);
end
$$;
comment on function
  outbox.publish_change(jsonb, text, text, text, outbox.watched_change) is
  'Publishes one change of a watched table. Of a partition key with more than 256 characters, the '
  'event has the SHA-256 in hex. OH001, OH011 and OH012 name the table '
  'and the problem of its event.';
