-- Returns to the Database Webhooks of one table, in one transaction. What was published before is
-- still delivered, and what is written later calls the old triggers.
do $migrate$
declare
  v_plan constant jsonb := {plan};
  v_table regclass;
  v_trigger name;
  v_comment text;
  v_endpoint uuid;
  v_type text;
  v_was_watched boolean := false;
begin
  perform pg_catalog.set_config('lock_timeout', v_plan ->> 'lock_timeout_ms', true);
  v_table := pg_catalog.format('%I.%I', v_plan ->> 'schema', v_plan ->> 'table')::regclass;
  execute pg_catalog.format('lock table %s in share row exclusive mode', v_table);
  for v_trigger, v_comment in
    select t.tgname, pg_catalog.obj_description(t.oid, 'pg_trigger') from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgenabled = 'D'
      and t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
      and pg_catalog.obj_description(t.oid, 'pg_trigger') ~ '^Replaced by the Outhook endpoint '
  loop
    v_endpoint := pg_catalog.substring(v_comment, '[0-9a-f-]{36}');
    v_was_watched := v_was_watched or v_comment ~ 'was watched before';
    perform from outbox.endpoint e where e.id = v_endpoint for no key update;
    perform outbox.end_subscriptions(v_endpoint,
      array(select s.pattern from outbox.subscription s where s.endpoint_id = v_endpoint),
      outbox.subscription_time(v_endpoint));
    execute pg_catalog.format('alter table %s enable trigger %I', v_table, v_trigger);
    execute pg_catalog.format('comment on trigger %I on %s is null', v_trigger, v_table);
  end loop;
  if v_endpoint is null then
    raise exception 'the table has no replaced webhook any more: run the command again';
  end if;
  select pg_catalog.convert_from(pg_catalog.rtrim(t.tgargs, '\x00'::bytea),
    pg_catalog.getdatabaseencoding())::jsonb ->> 'type'
  into v_type
  from pg_catalog.pg_trigger t
  where t.tgrelid = v_table and t.tgparentid = 0
    and t.tgfoid = 'outbox.publish_row()'::regprocedure;
  -- Another endpoint may need the events by now.
  if not v_was_watched and v_type is not null and not exists (
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
