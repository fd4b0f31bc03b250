-- The lines of messages, dossiers, channels and templates in the audit trail. A row is inserted in
-- the transaction of its change, so neither exists without the other.

create function outbox.audit(
  p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text,
  p_actor text, p_now timestamptz, p_correlation_id text default null
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- What concerns messages and people is evidence, and is never refused for its row.
  if p_entity_type in ('TEMPLATE', 'CHANNEL', 'REPLY_WORD') then
    perform outbox.count_action(p_org_id, p_action);
  end if;
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at, correlation_id)
  values (p_org_id, p_entity_type, p_entity_id, p_action, p_details, p_actor, p_now,
    p_correlation_id);
end
$$;
comment on function outbox.audit(text, text, text, text, text, text, timestamptz, text) is
  'Inserts a row into the audit trail. p_actor: who the row says did it; those of templates, '
  'channels and reply words count for current_actor() all the same. OH011: see '
  'limit.audit_rows_per_day.';

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
