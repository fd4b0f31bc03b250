-- Drops the disabled triggers of one table that switch.sql has replaced, if the new way works. Then
-- there is no way back. The lock comes first: undo.sql may enable a trigger while it is awaited.
do $migrate$
declare
  v_plan constant jsonb := {plan};
  v_table regclass;
  v_trigger name;
  v_endpoint uuid;
  v_problem text;
  v_dropped integer := 0;
begin
  perform pg_catalog.set_config('lock_timeout', v_plan ->> 'lock_timeout_ms', true);
  perform pg_catalog.pg_advisory_xact_lock('outbox.publish_row()'::regprocedure::oid::bigint);
  v_table := pg_catalog.format('%I.%I', v_plan ->> 'schema', v_plan ->> 'table')::regclass;
  execute pg_catalog.format('lock table %s in access exclusive mode', v_table);
  select b.problem into v_problem from outbox.broken_watch b where b.table = v_table limit 1;
  if v_problem is null and not exists (
    select from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgparentid = 0
      and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure))
  then
    v_problem := 'the table is not watched any more';
  end if;
  if v_problem is not null then
    raise exception '%', v_problem using
      hint = 'Watch the table again, return with --undo, or drop the triggers yourself';
  end if;
  for v_trigger, v_endpoint in
    select t.tgname, pg_catalog.substring(pg_catalog.obj_description(t.oid, 'pg_trigger'),
      '^Replaced by the Outhook endpoint ([0-9a-f-]{36})')::uuid
    from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgenabled = 'D'
      and t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
      and pg_catalog.obj_description(t.oid, 'pg_trigger') ~ '^Replaced by the Outhook endpoint '
  loop
    if not exists (
      select from outbox.endpoint e
      where e.id = v_endpoint and e.status = 'enabled'
        and exists (select from outbox.subscription s where s.endpoint_id = e.id))
    then
      raise exception 'the endpoint % of the webhook % is not enabled, or gets no event', v_endpoint,
        v_trigger using hint = 'Enable it, return with --undo, or drop the trigger yourself';
    end if;
    execute pg_catalog.format('drop trigger %I on %s', v_trigger, v_table);
    v_dropped := v_dropped + 1;
  end loop;
  if v_dropped = 0 then
    raise exception 'the table has no replaced webhook any more: run the command again';
  end if;
end
$migrate$;
