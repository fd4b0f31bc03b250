create function outbox.pause_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.pause_endpoint(p_endpoint_id, p_reason);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.pause_org_endpoint(text, uuid, text) is
  'Pauses an endpoint as pause_endpoint() does, and returns it. OH001, OH002, OH004.';

create function outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.resume_endpoint(p_endpoint_id);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.resume_org_endpoint(text, uuid) is
  'Resumes an endpoint as resume_endpoint() does, and returns it. OH002, OH004.';

create function outbox.delete_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_version integer default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.refuse_managed(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));
  return pg_catalog.jsonb_build_object('id', p_endpoint_id,
    'open', outbox.delete_endpoint(p_endpoint_id) -> 'open');
end
$$;
comment on function outbox.delete_org_endpoint(text, uuid, integer) is
  'Deletes an endpoint as delete_endpoint() does: {"id", "open"}. OH002, OH004, OH008.';
