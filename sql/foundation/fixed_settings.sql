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
      and p.prosrc !~ 'outbox\.set_text_settings\('
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
  'function that neither sets them nor calls set_text_settings(). Each folder calls it through '
  'close_new().';

-- A clause SET for each setting adds a fifth to the time of a trigger. So a trigger may set them
-- only in a session that has others.

create function outbox.set_text_settings() returns text[]
language plpgsql volatile set search_path = ''
as $$
declare
  v_before text[];
begin
  v_before := array['timezone', pg_catalog.current_setting('timezone'),
    'datestyle', pg_catalog.current_setting('datestyle'),
    'intervalstyle', pg_catalog.current_setting('intervalstyle'),
    'bytea_output', pg_catalog.current_setting('bytea_output'),
    'extra_float_digits', pg_catalog.current_setting('extra_float_digits'),
    'quote_all_identifiers', pg_catalog.current_setting('quote_all_identifiers')];
  perform outbox.restore_settings('{timezone,UTC,datestyle,"ISO, MDY",intervalstyle,postgres,
    bytea_output,hex,extra_float_digits,1,quote_all_identifiers,off}');
  return v_before;
end
$$;
comment on function outbox.set_text_settings() is
  'Sets the settings that determine the text of values, until restore_settings() or the end of the '
  'transaction, and returns those of before: {name, value, …}.';

create function outbox.restore_settings(p_settings text[]) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  for v_place in 1 .. pg_catalog.cardinality(p_settings) by 2 loop
    perform pg_catalog.set_config(p_settings[v_place], p_settings[v_place + 1], true);
  end loop;
end
$$;
comment on function outbox.restore_settings(text[]) is
  'Sets these settings for the rest of the transaction. An error undoes it.';
