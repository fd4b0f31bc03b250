-- Who calls: over the Data API session_user is the login role of PostgREST for everybody.

create function outbox.caller_role() returns name
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    nullif(pg_catalog.current_setting('role'), 'none'), session_user)::name;
end
$$;
comment on function outbox.caller_role() is
  'The role of the caller, also inside a SECURITY DEFINER function.';
