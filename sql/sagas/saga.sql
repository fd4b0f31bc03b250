-- Sagas: ordered steps in one transaction, each with an event. A step is a function of the
-- application, (context jsonb) returns jsonb: it does its part of the work, and what it returns is
-- the payload of the step's event and is laid over the context that the next step gets. If any step
-- raises, nothing has happened: no work, no event.
--
-- Steps run with the rights of whoever executes the saga: execute_saga() is SECURITY INVOKER, and
-- what it needs of the tables it gets from two functions that are not.

create table outbox.saga (
  name text primary key
    constraint saga_name_is_a_word check (name ~ '^[A-Za-z0-9_-]{1,64}$'),
  created_at timestamptz not null
);
comment on table outbox.saga is 'The sagas that define_saga() made.';

create table outbox.saga_step (
  saga text not null references outbox.saga (name) on delete cascade,
  position integer not null,
  -- Not regprocedure: pg_upgrade refuses a database with such a column.
  function text not null,
  event_type text not null,
  primary key (saga, position)
);
comment on table outbox.saga_step is
  'The steps of a saga in their order: the function (schema and name, quoted as SQL needs it) and '
  'the type of the event that it leaves.';

create table outbox.saga_key (
  org_id text not null,
  key text not null,
  saga text not null,
  content bytea not null,
  result jsonb,
  created_at timestamptz not null,
  primary key (org_id, key)
);
comment on table outbox.saga_key is
  'Idempotency keys of executed sagas, for idempotency.window_hours: content is the hash of '
  'name and context, result what the execution returned.';
create index saga_key_age on outbox.saga_key (created_at);

create function outbox.step_function(p_function text) returns regprocedure
language plpgsql stable set search_path = ''
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
      'Name the function of the step with its schema, such as public.reserve_stock');
  end if;
  if not exists (
    select from pg_catalog.pg_proc p
    where p.oid = v_function and p.prokind = 'f' and not p.proretset
      and p.prorettype = 'pg_catalog.jsonb'::regtype)
  then
    perform outbox.invalid('function', pg_catalog.format('%s does not return jsonb', v_function),
      'A step is a function (context jsonb) returns jsonb');
  end if;
  return v_function;
exception when invalid_parameter_value or invalid_name or syntax_error then
  raise exception using errcode = 'OH001',
    message = pg_catalog.format('function %s is not a name', p_function),
    hint = 'Expected a schema and a name, such as public.reserve_stock';
end
$$;
comment on function outbox.step_function(text) is
  'The function of that name (schema.name) that can be a step: it takes one jsonb and returns one. '
  'OH001.';

create function outbox.calling_role() returns name
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    nullif(pg_catalog.current_setting('role'), 'none'), session_user)::name;
end
$$;
comment on function outbox.calling_role() is
  'The role that made the call, seen from inside a SECURITY DEFINER function.';

create function outbox.define_saga(p_name text, p_steps jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_step jsonb;
  v_at integer := 0;
  v_function regprocedure;
  v_stray text;
begin
  if p_name is null or p_name !~ '^[A-Za-z0-9_-]{1,64}$' then
    perform outbox.invalid('name', pg_catalog.format('is %s', pg_catalog.quote_nullable(p_name)),
      'Expected 1 to 64 letters, digits, _ and -, such as place_order');
  end if;
  if pg_catalog.jsonb_typeof(p_steps) is distinct from 'array'
    or pg_catalog.jsonb_array_length(p_steps) not between 1 and 100
  then
    perform outbox.invalid('steps', 'is not an array of 1 to 100 steps',
      'Expected [{"function": "public.reserve_stock", "event_type": "stock.reserved"}, …]');
  end if;
  insert into outbox.saga (name, created_at) values (p_name, outbox.clock())
  on conflict (name) do update set created_at = excluded.created_at;
  delete from outbox.saga_step s where s.saga = p_name;
  for v_step in select e from pg_catalog.jsonb_array_elements(p_steps) e loop
    v_at := v_at + 1;
    if pg_catalog.jsonb_typeof(v_step) <> 'object' then
      perform outbox.invalid(pg_catalog.format('steps[%s]', v_at - 1), 'is not an object',
        'Expected {"function": "public.reserve_stock", "event_type": "stock.reserved"}');
    end if;
    select k into v_stray from pg_catalog.jsonb_object_keys(v_step) k
    where k not in ('function', 'event_type') limit 1;
    if found then
      perform outbox.invalid(pg_catalog.format('steps[%s].%s', v_at - 1, v_stray),
        'is not a field of a step', 'A step has a function and an event_type');
    end if;
    v_function := outbox.step_function(v_step ->> 'function');
    if not pg_catalog.has_function_privilege(outbox.calling_role(), v_function, 'execute') then
      perform outbox.invalid(pg_catalog.format('steps[%s].function', v_at - 1),
        pg_catalog.format('is %s, which the role %s may not execute', v_function,
          outbox.calling_role()),
        'Grant execute on it to that role, or define the saga as a role that has it');
    end if;
    perform outbox.check_type(v_step ->> 'event_type');
    insert into outbox.saga_step (saga, position, function, event_type)
    select p_name, v_at, pg_catalog.format('%I.%I', n.nspname, p.proname), v_step ->> 'event_type'
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.oid = v_function;
  end loop;
  return pg_catalog.jsonb_build_object('name', p_name, 'steps', v_at);
end
$$;
comment on function outbox.define_saga(text, jsonb) is
  'Makes a saga, or replaces it: p_steps is [{"function": schema.name of (jsonb) returns jsonb, '
  '"event_type"}]. Returns {"name", "steps": how many}. OH001: a name or step is not valid, or the '
  'calling role may not execute a step''s function.';

create function outbox.drop_saga(p_name text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  delete from outbox.saga s where s.name = p_name;
  if not found then
    perform outbox.no_saga(p_name);
  end if;
  return pg_catalog.jsonb_build_object('name', p_name, 'dropped', true);
end
$$;
comment on function outbox.drop_saga(text) is
  'Forgets a saga; what it has published stays: {"name", "dropped": true}. OH002.';

create function outbox.no_saga(p_name text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH002',
    message = pg_catalog.format('saga %s does not exist', pg_catalog.quote_nullable(p_name)),
    hint = 'select * from outbox.saga lists them; define_saga() makes one';
end
$$;
comment on function outbox.no_saga(text) is 'Raises OH002 for a saga of that name.';
