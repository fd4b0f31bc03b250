create table outbox.activity (
  id bigint generated always as identity primary key,
  org_id text not null,
  dossier_id text not null,
  type text not null constraint activity_type_is_known check (
    type in ('MESSAGE_SENT', 'MESSAGE_STATUS_UPDATE', 'MESSAGE_FAILED')
  ),
  metadata jsonb not null,
  created_at timestamptz not null
);
comment on table outbox.activity is
  'The timeline of a dossier: what happened to its messages. A row is inserted in the transaction '
  'of the change and never updated.';
create index activity_dossier on outbox.activity (org_id, dossier_id, id);

create function outbox.add_activity(
  p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_message.dossier_id is not null then
    insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
    values (p_message.org_id, p_message.dossier_id, p_type,
      pg_catalog.jsonb_build_object('messageId', p_message.id::text, 'channel', p_message.channel,
        'templateCode', p_message.template_code, 'status', p_message.status)
      || case
        when p_message.correlation_id is null then '{}'
        else pg_catalog.jsonb_build_object('correlationId', p_message.correlation_id)
      end || p_more, p_now);
  end if;
end
$$;
comment on function outbox.add_activity(outbox.outbound_message, text, jsonb, timestamptz) is
  'Adds a row to the timeline of the message''s dossier, if it has one. metadata: {"messageId", '
  '"channel", "templateCode", "status", "correlationId": if it has one, …} with the members of '
  'p_more.';
