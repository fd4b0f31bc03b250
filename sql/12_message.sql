-- Messages to people. A message is a row of its own, which the application reads and its callbacks
-- change; sending it is a delivery like any other, of an event that carries the message's id and
-- nothing else, so that erasing the message erases it everywhere. Numbers, payloads and WhatsApp's
-- ids (each holds the recipient's number) stand in the tables of this file alone.
--
--   QUEUED -> SENDING -> SENT -> DELIVERED     the claim, the answer, a callback
--   SENDING -> QUEUED                          a try failed and another will follow
--   QUEUED | SENDING | SENT -> FAILED          no further try, or a callback says so
--   QUEUED -> CANCELLED, FAILED -> QUEUED      a person, by cancel_message() and resend_message()
--
-- Consent is in 41, create_message() in 42, what results and claims do to a message in 56 and 66,
-- what a person does in 84.

create table outbox.outbound_message (
  id bigint generated always as identity primary key,
  org_id text not null,
  dossier_id text,
  channel text not null
    constraint outbound_message_channel_is_known check (channel in ('WHATSAPP')),
  to_recipient text not null,
  template_code text,
  payload_json jsonb not null,
  status text not null default 'QUEUED'
    constraint outbound_message_status_is_known check (
      status in ('QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED')
    ),
  provider_message_id text,
  idempotency_key text not null,
  attempt_count integer not null default 0,
  max_attempts integer not null default 6,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  channel_id uuid not null,
  event_id uuid not null,
  content bytea not null,
  category text not null
    constraint outbound_message_category_is_known check (
      category in ('MARKETING', 'UTILITY', 'AUTHENTICATION', 'SERVICE')
    ),
  wa_id text,
  created_by text,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  erased_at timestamptz,
  constraint outbound_message_of_key unique (org_id, idempotency_key),
  constraint outbound_message_of_event unique (event_id)
);
comment on table outbox.outbound_message is
  'Messages and what became of them. channel_id is the endpoint that sends it, event_id the event '
  'of its present life (a resend begins a new one), content the hash that makes two creations with '
  'one key the same; category is the template''s, or SERVICE without one; erased_at: payload, '
  'number and ids are gone.';
create index outbound_message_provider on outbox.outbound_message (provider_message_id)
  where provider_message_id is not null;
create index outbound_message_org on outbox.outbound_message (org_id, id);
create index outbound_message_dossier on outbox.outbound_message (org_id, dossier_id, id)
  where dossier_id is not null;
create index outbound_message_state on outbox.outbound_message (org_id, status, id);
create index outbound_message_queued on outbox.outbound_message (created_at)
  where status = 'QUEUED';
create index outbound_message_sending on outbox.outbound_message (updated_at)
  where status = 'SENDING';
create index outbound_message_person on outbox.outbound_message (org_id, wa_id)
  where wa_id is not null;
create index outbound_message_kept on outbox.outbound_message (created_at)
  where erased_at is null;

create table outbox.message_attempt (
  id bigint generated always as identity primary key,
  message_id bigint not null,
  attempt_no integer not null,
  status text not null
    constraint message_attempt_status_is_known check (status in ('TRYING', 'SUCCESS', 'FAILED')),
  error_code text,
  error_message text,
  provider_response jsonb,
  next_retry_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  event_id uuid not null,
  claim integer not null,
  phone_number_id text not null,
  wamid text,
  taken_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  constraint message_attempt_of_message unique (message_id, attempt_no),
  constraint message_attempt_of_claim unique (event_id, claim),
  constraint message_attempt_of_wamid unique (phone_number_id, wamid)
);
comment on table outbox.message_attempt is
  'The tries of a message, numbered through its resends. claim is the number of the delivery''s '
  'attempt; a claim that was given back unsent leaves no row. taken_at is when WhatsApp''s answer '
  'came; the other four are what its callbacks say of the try, at the earliest time that any says.';

create view outbox.outbound_attempt with (security_invoker = true) as
select a.id, a.message_id as outbound_message_id, a.attempt_no, a.status, a.error_code,
  a.error_message, a.provider_response, a.next_retry_at, a.created_at, a.updated_at
from outbox.message_attempt a;
comment on view outbox.outbound_attempt is
  'The tries of messages: TRYING, SUCCESS or FAILED, with when the next follows.';

create table outbox.audit_event (
  id bigint generated always as identity primary key,
  org_id text not null,
  entity_type text not null,
  entity_id text not null,
  action text not null,
  details text not null,
  actor text,
  created_at timestamptz not null
);
comment on table outbox.audit_event is
  'Who did what, or what happened, to a message, a dossier or a channel. Written in the '
  'transaction of the change, never changed; it names people by the ids of the application only.';
create index audit_event_entity on outbox.audit_event (org_id, entity_type, entity_id, id);
create index audit_event_org on outbox.audit_event (org_id, id);

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
  'The timeline of a dossier: what became of its messages. Written in the transaction of the '
  'change, never changed.';
create index activity_dossier on outbox.activity (org_id, dossier_id, id);

create table outbox.template (
  org_id text not null,
  code text not null,
  name text not null,
  language text not null,
  category text not null constraint template_category_is_known check (
    category in ('MARKETING', 'UTILITY', 'AUTHENTICATION')
  ),
  parameter_format text not null default 'POSITIONAL'
    constraint template_parameter_format_is_known check (
      parameter_format in ('POSITIONAL', 'NAMED')
    ),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, code)
);
comment on table outbox.template is
  'The templates of an org under codes of its own: what Meta calls each (name and language), its '
  'category, and whether its parameters have numbers or names.';

create function outbox.audit(
  p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text,
  p_actor text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  values (p_org_id, p_entity_type, p_entity_id, p_action, p_details, p_actor, p_now);
end
$$;
comment on function outbox.audit(text, text, text, text, text, text, timestamptz) is
  'Writes one line of the audit trail.';

create function outbox.note_activity(
  p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_message.dossier_id is not null then
    insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
    values (p_message.org_id, p_message.dossier_id, p_type,
      pg_catalog.jsonb_build_object('messageId', p_message.id::text, 'channel', p_message.channel,
        'templateCode', p_message.template_code, 'status', p_message.status) || p_more, p_now);
  end if;
end
$$;
comment on function outbox.note_activity(outbox.outbound_message, text, jsonb, timestamptz) is
  'Writes one line of the timeline of the message''s dossier, if it has one: {"messageId", '
  '"channel", "templateCode", "status", …}.';

create function outbox.may_become(p_from text, p_to text) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return p_from = p_to or (p_from, p_to) in (
    ('QUEUED', 'SENDING'), ('QUEUED', 'FAILED'), ('QUEUED', 'CANCELLED'),
    -- An answer that was lost, or came after its lease, and turns up before the next try.
    ('QUEUED', 'SENT'), ('QUEUED', 'DELIVERED'),
    ('SENDING', 'QUEUED'), ('SENDING', 'SENT'), ('SENDING', 'FAILED'), ('SENDING', 'DELIVERED'),
    ('SENT', 'DELIVERED'), ('SENT', 'FAILED'),
    ('FAILED', 'QUEUED'));
end
$$;
comment on function outbox.may_become(text, text) is
  'Whether a message of one status may get another.';

create function outbox.count_message(
  p_status text, p_error_code text default null, p_n bigint default 1
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.count_up('messages', array[pg_catalog.lower(p_status), case
    when p_status = 'FAILED' then coalesce(pg_catalog.left(p_error_code, 40), '')
    else ''
  end], p_n);
end
$$;
comment on function outbox.count_message(text, text, bigint) is
  'Counts that messages got a status.';

create function outbox.save_message(
  p_message outbox.outbound_message, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_was text;
begin
  select m.status into v_was from outbox.outbound_message m where m.id = p_message.id for update;
  if not outbox.may_become(v_was, p_message.status) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s and cannot become %s', p_message.id, v_was,
        p_message.status),
      hint = 'Only a QUEUED message can be cancelled, and only a FAILED one sent again';
  end if;
  update outbox.outbound_message m set
    status = p_message.status,
    provider_message_id = p_message.provider_message_id,
    attempt_count = p_message.attempt_count,
    max_attempts = p_message.max_attempts,
    error_code = p_message.error_code,
    error_message = p_message.error_message,
    event_id = p_message.event_id,
    wa_id = p_message.wa_id,
    sent_at = p_message.sent_at,
    delivered_at = p_message.delivered_at,
    read_at = p_message.read_at,
    updated_at = p_now
  where m.id = p_message.id;
  if v_was <> p_message.status then
    perform outbox.count_message(p_message.status, p_message.error_code);
  end if;
end
$$;
comment on function outbox.save_message(outbox.outbound_message, timestamptz) is
  'Writes what changes in the life of a message. OH004 when its status may not become that. '
  'locks: the message.';

create function outbox.fail_message(
  p_message outbox.outbound_message, p_code text, p_error text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  p_message.status := 'FAILED';
  p_message.error_code := p_code;
  p_message.error_message := p_error;
  perform outbox.save_message(p_message, p_now);
  perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, 'FAILED',
    'Message failed: ' || p_error, null, p_now);
  perform outbox.note_activity(p_message, 'MESSAGE_FAILED',
    pg_catalog.jsonb_build_object('errorCode', p_code, 'error', p_error), p_now);
end
$$;
comment on function outbox.fail_message(outbox.outbound_message, text, text, timestamptz) is
  'Ends a message as FAILED, with its audit and activity. OH004. locks: the message.';
