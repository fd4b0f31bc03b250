-- Rows of the audit trail about endpoints and their deliveries: see foundation/audit.

create function outbox.note_endpoint(
  p_endpoint_id uuid, p_action text, p_details text, p_data jsonb default '{}'
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_action(
    (select e.org_id from outbox.endpoint e where e.id = p_endpoint_id), 'ENDPOINT',
    p_endpoint_id::text, p_action, p_details, p_data);
end
$$;
comment on function outbox.note_endpoint(uuid, text, text, jsonb) is
  'Records an action on an endpoint: see note_action().';

create function outbox.note_change(
  p_endpoint_id uuid, p_members text[], p_headers jsonb
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_members text[] := p_members
    || case when coalesce(p_headers, '{}') <> '{}' then array['headers'] end;
begin
  if v_members = '{}' then
    return;
  end if;
  perform outbox.note_endpoint(p_endpoint_id, 'CHANGED',
    'Endpoint changed: ' || pg_catalog.array_to_string(v_members, ', '),
    pg_catalog.jsonb_build_object('members', v_members));
end
$$;
comment on function outbox.note_change(uuid, text[], jsonb) is
  'Records which members of an endpoint were changed, and whether headers were; no value, because '
  'an address, a filter or a header may have a secret.';

create function outbox.note_delivery(
  p_event_id uuid, p_endpoint_id uuid, p_action text, p_details text
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_action(
    (select e.org_id from outbox.endpoint e where e.id = p_endpoint_id), 'DELIVERY',
    p_event_id || '.' || p_endpoint_id, p_action, p_details,
    pg_catalog.jsonb_build_object('endpointId', p_endpoint_id));
end
$$;
comment on function outbox.note_delivery(uuid, uuid, text, text) is
  'Records an action on one delivery, whose id is that of the API: see note_action().';
