-- The settings of a session decide how Postgres writes and reads the text of a value: one
-- timestamptz has as many texts as there are time zones. So that no setting of a user, a role or
-- the database changes a payload, a partition key, an error or a bound, each SECURITY DEFINER
-- function and each trigger function has these settings fixed. They are the entry points: what they
-- call inherits the settings. This takes 3 us a call. The few entry points with the caller's rights
-- (execute_saga(), consume()) call the user's functions, which keep the user's settings. They
-- convert only integers and json themselves.

create function outbox.fix_settings() returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_function record;
begin
  for v_function in
    select p.oid::regprocedure as name, f.setting, f.value
    from pg_catalog.pg_proc p
    cross join (values
      ('timezone', 'UTC'), ('datestyle', 'ISO, MDY'), ('intervalstyle', 'postgres'),
      ('extra_float_digits', '1'), ('bytea_output', 'hex'), ('standard_conforming_strings', 'on')
    ) f (setting, value)
    where p.pronamespace = 'outbox'::regnamespace
      and (p.prosecdef or p.prorettype = 'trigger'::regtype)
      and not exists (
        select from pg_catalog.unnest(p.proconfig) c
        where pg_catalog.lower(c) like f.setting || '=%')
  loop
    execute pg_catalog.format('alter function %s set %s = %L', v_function.name, v_function.setting,
      v_function.value);
  end loop;
end
$$;
comment on function outbox.fix_settings() is
  'Fixes the settings that decide the text of values in each SECURITY DEFINER and trigger '
  'function that does not set them. Each folder calls it through close_new().';
