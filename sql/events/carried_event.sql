-- An event that a broker has carried from another database. Its idempotency key was claimed where
-- it was published: claimed again here, a key that the publisher has used again after its time
-- would make two events one.

create function outbox.put_carried_event(p_event outbox.event) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_id uuid := outbox.check_event(p_event);
begin
  perform outbox.check_event_bytes(p_event.org_id, p_event.created_at);
  insert into outbox.event select p_event.*;
  insert into outbox.unrouted (event_id, org_id) values (v_id, p_event.org_id);
  return v_id;
end
$$;
comment on function outbox.put_carried_event(outbox.event) is
  'Stores an event from another database as unrouted, and returns its id. It keeps its idempotency '
  'key for the receivers, and claims none. OH001, OH011.';
