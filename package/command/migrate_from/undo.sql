-- Returns to the Database Webhooks of one table, in one transaction. What was published before is
-- still delivered, and what is written later calls the old triggers. It takes the lock of DROP
-- TRIGGER at once: a stronger lock in a second step would be a deadlock with a transaction that has
-- read the table and then writes to it.
do $migrate$
declare
  v_plan constant jsonb := {plan};
  v_table regclass;
  v_trigger name;
  v_comment text;
  v_endpoint uuid;
  v_types text[];
  v_pattern text;
  v_type text;
begin
  perform pg_catalog.set_config('lock_timeout', v_plan ->> 'lock_timeout_ms', true);
  perform pg_catalog.pg_advisory_xact_lock('outbox.publish_row()'::regprocedure::oid::bigint);
  v_table := pg_catalog.format('%I.%I', v_plan ->> 'schema', v_plan ->> 'table')::regclass;
  execute pg_catalog.format('lock table %s in access exclusive mode', v_table);
  for v_trigger, v_comment in
    select t.tgname, pg_catalog.obj_description(t.oid, 'pg_trigger') from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgenabled = 'D'
      and t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
      and pg_catalog.obj_description(t.oid, 'pg_trigger') ~ '^Replaced by the Outhook endpoint '
  loop
    v_endpoint := pg_catalog.substring(v_comment, '[0-9a-f-]{36}');
    v_types := pg_catalog.string_to_array(
      pg_catalog.substring(v_comment, '^[^\n]* for ([^\n]*)'), ' ');
    perform from outbox.endpoint e where e.id = v_endpoint for no key update;
    select s.pattern into v_pattern
    from outbox.subscription s
    cross join lateral pg_catalog.unnest(v_types) t
    where s.endpoint_id = v_endpoint and s.pattern <> all (v_types)
      and s.pattern = any (outbox.type_patterns(t))
    limit 1;
    if found then
      raise exception 'the endpoint % also gets these events by its event type %', v_endpoint,
        v_pattern using hint = 'Remove this event type from the endpoint: each row would come twice';
    end if;
    perform outbox.end_subscriptions(v_endpoint, v_types, outbox.subscription_time(v_endpoint));
    execute pg_catalog.format('alter table %s enable trigger %I', v_table, v_trigger);
    execute pg_catalog.format('comment on trigger %I on %s is %L', v_trigger, v_table,
      pg_catalog.substring(v_comment, '\n(.*)$'));
  end loop;
  if v_endpoint is null then
    raise exception 'the table has no replaced webhook any more: run the command again';
  end if;
  -- A watch that the application has made, or made again, has no such comment.
  select outbox.watch_of(t.tgargs) ->> 'type' into v_type
  from pg_catalog.pg_trigger t
  where t.tgrelid = v_table and t.tgparentid = 0
    and t.tgfoid = 'outbox.publish_row()'::regprocedure
    and pg_catalog.obj_description(t.oid, 'pg_trigger') ~ '^Created by outhook migrate-from';
  -- Another endpoint may need the events by now.
  if v_type is not null and not exists (
    select from outbox.subscription s
    where s.pattern = any (array(
      select p
      from pg_catalog.unnest(array['inserted', 'updated', 'deleted']) o
      cross join lateral pg_catalog.unnest(
        outbox.type_patterns(pg_catalog.replace(v_type, '{op}', o))) p)))
  then
    perform outbox.unwatch_table(v_table);
  end if;
end
$migrate$;
