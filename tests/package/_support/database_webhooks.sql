-- Database Webhooks as a hosted project has them after they are enabled in the dashboard: the schema
-- with its tables, and the trigger function that queues a request in pg_net. A superuser runs it.
create role supabase_functions_admin nologin noinherit createrole;
create schema supabase_functions;
grant usage on schema supabase_functions to postgres, anon, authenticated, service_role;

create table supabase_functions.migrations (
  version text primary key,
  inserted_at timestamptz not null default now()
);
create table supabase_functions.hooks (
  id bigserial primary key,
  hook_table_id integer not null,
  hook_name text not null,
  created_at timestamptz not null default now(),
  request_id bigint
);
create index on supabase_functions.hooks (request_id);
create index on supabase_functions.hooks (hook_table_id, hook_name);

create function supabase_functions.http_request() returns trigger
language plpgsql security definer set search_path = supabase_functions
as $$
declare
  v_headers jsonb := '{"Content-Type": "application/json"}';
  v_params jsonb := '{}';
  v_timeout_ms integer := 1000;
  v_request bigint;
begin
  if tg_argv[0] is null or tg_argv[0] = 'null' then
    raise exception 'url argument is missing';
  elsif tg_argv[1] is null or tg_argv[1] = 'null' then
    raise exception 'method argument is missing';
  end if;
  if tg_argv[2] is not null and tg_argv[2] <> 'null' then
    v_headers := tg_argv[2]::jsonb;
  end if;
  if tg_argv[3] is not null and tg_argv[3] <> 'null' then
    v_params := tg_argv[3]::jsonb;
  end if;
  if tg_argv[4] is not null and tg_argv[4] <> 'null' then
    v_timeout_ms := tg_argv[4]::integer;
  end if;
  if tg_argv[1] = 'GET' then
    v_request := net.http_get(tg_argv[0], v_params, v_headers, v_timeout_ms);
  elsif tg_argv[1] = 'POST' then
    v_request := net.http_post(tg_argv[0],
      jsonb_build_object('old_record', old, 'record', new, 'type', tg_op, 'table', tg_table_name,
        'schema', tg_table_schema), v_params, v_headers, v_timeout_ms);
  else
    raise exception 'method argument % is invalid', tg_argv[1];
  end if;
  insert into hooks (hook_table_id, hook_name, request_id) values (tg_relid, tg_name, v_request);
  return new;
end
$$;

alter table supabase_functions.migrations owner to supabase_functions_admin;
alter table supabase_functions.hooks owner to supabase_functions_admin;
grant all on all tables in schema supabase_functions to postgres, anon, authenticated, service_role;
grant all on all sequences in schema supabase_functions
  to postgres, anon, authenticated, service_role, supabase_functions_admin;
grant all on schema supabase_functions to supabase_functions_admin;
alter function supabase_functions.http_request() owner to supabase_functions_admin;
revoke all on function supabase_functions.http_request() from public;
grant execute on function supabase_functions.http_request()
  to postgres, anon, authenticated, service_role;
grant supabase_functions_admin to postgres;
