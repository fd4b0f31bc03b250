-- The database as it is for a newer function: its dispatch knows no contract.
alter function outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer)
  rename to newer_dispatch;
create function outbox.dispatch(
  p_run uuid, p_seq bigint, p_results jsonb default '[]', p_limit integer default 0,
  p_kind text default 'edge', p_ended boolean default false, p_known jsonb default '{}'
) returns json language sql security definer set search_path = '' as $$
  select outbox.newer_dispatch(p_run, p_seq, p_results, p_limit, p_kind, p_ended, p_known)
$$;
revoke all on function outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb) from public;
grant execute on function outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb)
  to service_role;
