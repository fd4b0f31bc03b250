-- The audit trail of messages, dossiers, channels and templates. A row is inserted in the
-- transaction of its change, so neither exists without the other.

create table outbox.audit_event (
  id bigint generated always as identity primary key,
  org_id text not null,
  entity_type text not null,
  entity_id text not null,
  action text not null,
  details text not null,
  actor text,
  created_at timestamptz not null,
  correlation_id text
);
comment on table outbox.audit_event is
  'Who did what to a message, a dossier, a channel or a template, or what happened to it. A row '
  'is inserted in the transaction of the change and never updated. It identifies people only by '
  'ids of the application or by a hash of their number. correlation_id is that of the message, if '
  'the row is about one that has one, or that was refused.';
create index audit_event_entity on outbox.audit_event (org_id, entity_type, entity_id, id);
create index audit_event_org on outbox.audit_event (org_id, id);
create index audit_event_correlation on outbox.audit_event (org_id, correlation_id, id)
  where correlation_id is not null;

create function outbox.audit(
  p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text,
  p_actor text, p_now timestamptz, p_correlation_id text default null
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at, correlation_id)
  values (p_org_id, p_entity_type, p_entity_id, p_action, p_details, p_actor, p_now,
    p_correlation_id);
end
$$;
comment on function outbox.audit(text, text, text, text, text, text, timestamptz, text) is
  'Inserts a row into the audit trail.';

create function outbox.audit_message(
  p_message outbox.outbound_message, p_action text, p_details text, p_actor text,
  p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, p_action,
    p_details, p_actor, p_now, p_message.correlation_id);
end
$$;
comment on function outbox.audit_message(outbox.outbound_message, text, text, text, timestamptz) is
  'Inserts a row about a message into the audit trail.';
