-- Sagas: ordered steps in one transaction. Each step publishes an event. A step is a function of
-- the application, (context jsonb) returns jsonb. Its result is the payload of the step's event and
-- is merged into the context of the next step. If a step raises an error, the whole saga is rolled
-- back: no work, no event.

create table outbox.saga (
  name text primary key
    constraint saga_name_is_a_word check (name ~ '^[A-Za-z0-9_-]{1,64}$'),
  created_at timestamptz not null,
  by_tokens boolean not null default false
);
comment on table outbox.saga is
  'Sagas. define_saga() creates them. by_tokens: users'' and portal tokens may execute it over '
  'HTTP, not only a secret key.';

create table outbox.saga_step (
  saga text not null references outbox.saga (name) on delete cascade,
  position integer not null,
  -- Text, because pg_upgrade refuses a database with a column of type regprocedure.
  function text not null,
  event_type text not null,
  primary key (saga, position)
);
comment on table outbox.saga_step is
  'The steps of a saga in their order: the function (schema and name, quoted as SQL needs it) and '
  'the type of the event that the step publishes.';

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
  'Idempotency keys of executed sagas, stored for idempotency.window_hours. content is the hash '
  'of the name and the context; result is what the execution returned.';
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
      'Give the schema and the name of the step''s function, such as public.reserve_stock');
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
    message = pg_catalog.format('function %s is not a valid name', p_function),
    hint = 'Expected a schema and a name, such as public.reserve_stock';
end
$$;
comment on function outbox.step_function(text) is
  'The function with this name (schema.name). A step takes one jsonb and returns jsonb. OH001.';

create function outbox.define_saga(
  p_name text, p_steps jsonb, p_by_tokens boolean default false
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_step jsonb;
  v_position integer := 0;
  v_function regprocedure;
  v_unknown text;
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
  if p_by_tokens is null then
    perform outbox.invalid('by_tokens', 'is null', 'Expected true or false');
  end if;
  insert into outbox.saga (name, created_at, by_tokens)
  values (p_name, outbox.clock(), p_by_tokens)
  on conflict (name) do update
    set created_at = excluded.created_at, by_tokens = excluded.by_tokens;
  delete from outbox.saga_step s where s.saga = p_name;
  for v_step in select e from pg_catalog.jsonb_array_elements(p_steps) e loop
    v_position := v_position + 1;
    if pg_catalog.jsonb_typeof(v_step) <> 'object' then
      perform outbox.invalid(pg_catalog.format('steps[%s]', v_position - 1), 'is not an object',
        'Expected {"function": "public.reserve_stock", "event_type": "stock.reserved"}');
    end if;
    select k into v_unknown from pg_catalog.jsonb_object_keys(v_step) k
    where k not in ('function', 'event_type') limit 1;
    if found then
      perform outbox.invalid(pg_catalog.format('steps[%s].%s', v_position - 1, v_unknown),
        'is not a field of a step', 'A step has a function and an event_type');
    end if;
    v_function := outbox.step_function(v_step ->> 'function');
    if not pg_catalog.has_function_privilege(outbox.caller_role(), v_function, 'execute') then
      perform outbox.invalid(pg_catalog.format('steps[%s].function', v_position - 1),
        pg_catalog.format('is %s, which the role %s may not execute', v_function,
          outbox.caller_role()),
        'Grant execute on it to that role, or define the saga as a role that has it');
    end if;
    perform outbox.check_type(v_step ->> 'event_type');
    insert into outbox.saga_step (saga, position, function, event_type)
    select p_name, v_position, pg_catalog.format('%I.%I', n.nspname, p.proname),
      v_step ->> 'event_type'
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.oid = v_function;
  end loop;
  perform outbox.note_action(null, 'SAGA', p_name, 'DEFINED', 'Saga defined',
    pg_catalog.jsonb_build_object('steps', v_position, 'byTokens', p_by_tokens));
  return pg_catalog.jsonb_build_object('name', p_name, 'steps', v_position);
end
$$;
comment on function outbox.define_saga(text, jsonb, boolean) is
  'Creates or replaces a saga: p_steps is [{"function": schema.name of (jsonb) returns jsonb, '
  '"event_type"}]. p_by_tokens: users'' and portal tokens with the scope sagas:execute may execute '
  'it over HTTP, not only a secret key. Returns {"name", "steps": how many}. OH001: a name or step '
  'is invalid, or the calling role may not execute a step''s function.';

create function outbox.drop_saga(p_name text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  delete from outbox.saga s where s.name = p_name;
  if not found then
    perform outbox.raise_unknown_saga(p_name);
  end if;
  perform outbox.note_action(null, 'SAGA', p_name, 'DELETED', 'Saga deleted');
  return pg_catalog.jsonb_build_object('name', p_name, 'dropped', true);
end
$$;
comment on function outbox.drop_saga(text) is
  'Deletes a saga; its events stay: {"name", "dropped": true}. OH002.';

create function outbox.raise_unknown_saga(p_name text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH002',
    message = pg_catalog.format('saga %s does not exist', pg_catalog.quote_nullable(p_name)),
    hint = 'Create it with define_saga(); select * from outbox.saga lists the existing sagas';
end
$$;
comment on function outbox.raise_unknown_saga(text) is
  'Raises OH002 for a saga that does not exist.';
