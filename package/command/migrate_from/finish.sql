-- Drops the disabled triggers of one table that switch.sql has replaced. Then there is no way back.
do $migrate$
declare
  v_plan constant jsonb := {plan};
  v_table regclass;
  v_trigger name;
begin
  perform pg_catalog.set_config('lock_timeout', v_plan ->> 'lock_timeout_ms', true);
  v_table := pg_catalog.format('%I.%I', v_plan ->> 'schema', v_plan ->> 'table')::regclass;
  for v_trigger in
    select t.tgname from pg_catalog.pg_trigger t
    where t.tgrelid = v_table and t.tgenabled = 'D'
      and t.tgfoid = pg_catalog.to_regprocedure('supabase_functions.http_request()')
      and pg_catalog.obj_description(t.oid, 'pg_trigger') ~ '^Replaced by the Outhook endpoint '
  loop
    execute pg_catalog.format('drop trigger %I on %s', v_trigger, v_table);
  end loop;
end
$migrate$;
