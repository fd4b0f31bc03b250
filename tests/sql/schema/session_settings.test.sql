-- Modules: api, messages
-- No setting of a session changes what a function writes: see foundation/fixed_settings.sql.
begin;
\ir ../_helpers.sql
select plan(20);

-- What is fixed where.
create function fixed(p_config text[]) returns text[] language sql as $$
  select array_agg(lower(split_part(c, '=', 1)) order by lower(split_part(c, '=', 1)) collate "C")
  from unnest(p_config) c
  where lower(split_part(c, '=', 1)) in ('timezone', 'datestyle', 'intervalstyle', 'extra_float_digits', 'bytea_output', 'standard_conforming_strings')
$$;
select is_empty($$
  select p.oid::regprocedure from pg_proc p
  where p.pronamespace = 'outbox'::regnamespace and (p.prosecdef or p.prorettype = 'trigger'::regtype)
    -- A watched table has its own tests for all settings: watch_table/values.test.sql.
    and p.prosrc !~ 'outbox\.set_text_settings\('
    and fixed(p.proconfig) is distinct from '{bytea_output,datestyle,extra_float_digits,intervalstyle,standard_conforming_strings,timezone}'
$$, 'each SECURITY DEFINER and each trigger function fixes the settings that decide the text of a value');
select set_eq($$
  select p.proname::text from pg_proc p
  where p.pronamespace = 'outbox'::regnamespace and not p.prosecdef
    and has_function_privilege('service_role', p.oid, 'execute')
$$, $$values
  -- They call functions of the user, which keep the session's settings.
  ('consume'), ('execute_org_saga'), ('execute_saga'), ('run_step'),
  -- They convert nothing: a stored policy, an id to its time, a constant.
  ('retry_preset'), ('uuid_v7_time'), ('version')
$$, 'every other entry point is known to convert no value to text');
select is_empty($$
  select j.jobname, c.command
  from cron.job j cross join lateral (select regexp_matches(j.command, 'outbox\.(\w+)\(', 'g') as command) c
  join pg_proc p on p.pronamespace = 'outbox'::regnamespace and p.proname = c.command[1]
  where not p.prosecdef
    -- They return a time, and convert none to text.
    and p.proname not in ('await_tick', 'job_deadline')
$$, 'the jobs of pg_cron call only functions with fixed settings');
create function outbox.made_later() returns text language sql security definer set search_path = '' as $$ select now()::text $$;
select outbox.close_new();
select is((select array_length(fixed(p.proconfig), 1) from pg_proc p where p.oid = 'outbox.made_later()'::regprocedure), 6,
  'close_new() fixes the settings of a function of a later module');
create function outbox.own_zone() returns text language sql security definer set search_path = '' set timezone = 'Asia/Tokyo' as $$ select now()::text $$;
select outbox.close_new();
select is((select array_agg(c) from pg_proc p, unnest(p.proconfig) c where p.oid = 'outbox.own_zone()'::regprocedure and c ilike 'timezone=%'), '{TimeZone=Asia/Tokyo}',
  'and leaves a setting that the function sets itself');

-- Views that show times as text name the zone.
select is_empty($$
  select c.relname from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind = 'v'
    and pg_get_viewdef(c.oid) ~ '(_at|now\(\)|clock\(\))\)?::text'
$$, 'no view converts a time to text');

-- The same calls in two sessions that differ in every setting.
create function session_of(p_which integer) returns void language sql as $$
  select set_config(n.name, case p_which when 1 then n.one else n.two end, true)
  from (values ('timezone', 'UTC', 'Pacific/Chatham'), ('datestyle', 'ISO, MDY', 'SQL, DMY'),
    ('intervalstyle', 'postgres', 'sql_standard'), ('extra_float_digits', '1', '-15'),
    ('bytea_output', 'hex', 'escape'), ('quote_all_identifiers', 'off', 'on'), ('array_nulls', 'on', 'off')) n (name, one, two)
$$;
create function in_both(p_call text) returns text language plpgsql as $$
declare
  v_one text;
  v_two text;
begin
  perform helper.session_of(1);
  execute 'select (' || p_call || ')::text' into v_one;
  perform helper.session_of(2);
  execute 'select (' || p_call || ')::text' into v_two;
  perform helper.session_of(1);
  return case when v_one = v_two then 'equal' else v_one || ' <> ' || v_two end;
end
$$;
create temporary table made as select endpoint() as id;
select step();
create function published(p_event jsonb) returns text language plpgsql as $$
declare
  v_id uuid := outbox.publish_many(jsonb_build_array(p_event)) ->> 0;
begin
  return (select concat_ws(' ', e.body, e.partition_key, extract(epoch from e.deliver_at)) from outbox.event e where e.id = v_id);
end
$$;
select is(in_both($$ published('{"type": "a.b", "payload": [1.10, 1e300, 0.1], "deliver_at": "2026-03-02 10:00"}') $$), 'equal',
  'a body; a deliver_at without a zone');
select is(published('{"type": "a.b", "payload": 1, "deliver_at": "2026-03-02 10:00"}'), '1 1772445600.000000', 'which is in UTC');
select is(in_both($$ published('{"type": "a.b", "payload": 1, "deliver_at": "03/04/2026"}') $$), 'equal', 'a date whose month and day may be taken for each other');
select is(in_both($$ outbox.preview_schedule('{"strategy": "exponential", "base_delay": 0.123456789, "factor": 3.7}') $$), 'equal', 'numbers of a schedule');
select is(in_both($$ helper.refusal('select outbox.preview_schedule(''{"strategy": "fixed", "base_delay": 123456.789012}'')') $$), 'equal', 'numbers of an error');
select is(in_both($$ helper.refusal('select outbox.list_events(''default'', p_limit => 101)') $$), 'equal', 'the bound of a page in an error');
select is(in_both(format($$ helper.refusal('select outbox.rotate_secret(''%s'', p_overlap => interval ''31 days 1 s'')') $$, id)), 'equal', 'an interval of an error') from made;
select is(in_both(format($$ (outbox.get_org_endpoint('default', %L)) $$, id)), 'equal', 'an endpoint of the API') from made;
select is(in_both($$ (outbox.list_events('default')) $$), 'equal', 'a list of events');

-- A rotated secret says when the old one ends.
select session_of(2);
create temporary table rotated as select outbox.rotate_secret(id, p_overlap => interval '1 hour') as r from made;
select is((select array_agg(x[1] order by x[1]) from rotated, regexp_matches(r::text, '\d{4}-\d\d-\d\dT[\d:.]+([+-][\d:]+|Z)', 'g') x where x[1] not in ('Z', '+00:00')), null, 'a time in a result is in UTC');
select session_of(1);

-- Backslashes in the bodies of functions.
set local standard_conforming_strings = off;
set local escape_string_warning = off;
discard plans;
select is(refusal($$ select outbox.publish('a b', '{}') $$), $$OH001 type is 'a b'$$, 'a type is checked whatever a backslash means');
select is(refusal($$ select outbox.publish('a.b', '{}', p_idempotency_key => 'a b') $$), 'OH001 idempotency_key is not 1 to 255 visible ASCII characters', 'and a key');
select is(refusal($$ select outbox.publish('order.paid', '{}') $$), 'accepted', 'and what is valid passes');
set local standard_conforming_strings = on;

-- A call leaves the session as it was.
set local timezone = 'Pacific/Chatham';
select outbox.list_events('default');
select is(current_setting('timezone'), 'Pacific/Chatham', 'a call changes no setting of the session');

select * from finish();
rollback;
