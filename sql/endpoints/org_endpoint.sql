-- An endpoint as its organisation may use it. An endpoint of another organisation, and a deleted
-- one, raise the same error as an unknown id, so an id from elsewhere reveals nothing.

create function outbox.org_endpoint(p_org_id text, p_endpoint_id uuid) returns outbox.endpoint
language plpgsql stable set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  select *
  into v_endpoint
  from outbox.endpoint e
  where e.id = p_endpoint_id and e.org_id = p_org_id and e.status <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist',
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'Use an id from the list of endpoints';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.org_endpoint(text, uuid) is
  'The endpoint of an organisation. OH002 if it does not exist there or was deleted.';
