-- Messages to recipients. The application reads a message in its row, and callbacks update it. Its
-- sending is a delivery of an event that contains only the message's id, so erasing the message
-- erases its content everywhere. Only the tables of this file store numbers, payloads and
-- WhatsApp's ids (each contains the recipient's number).
--
-- message_status has the statuses, messages/person has consent, messages/message has the functions
-- for the application and for operators, and messages/send has the effects of claims and results.

create table outbox.outbound_message (
  id bigint generated always as identity primary key,
  org_id text not null,
  dossier_id text,
  channel text not null,
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
  recipient_hash text,
  copies integer not null default 0,
  correlation_id text,
  constraint outbound_message_of_key unique (org_id, idempotency_key),
  constraint outbound_message_of_event unique (event_id)
);
comment on table outbox.outbound_message is
  'Messages and their statuses. channel_id is the endpoint that sends the message. event_id is '
  'its current event (a resend creates a new one). content is a hash: two creations with the same '
  'key and the same hash are the same message. category is that of the template, or SERVICE '
  'without a template. recipient_hash is person_key() of the number, which finds the opt-outs of '
  'an erased person. If erased_at is not null, payload, number and ids are erased. delivered_at '
  'and copies (how many attempts arrived) are what WhatsApp reports, whatever the status: a '
  'cancelled or failed message may have arrived. correlation_id is that of the caller, or null. '
  'The events of the message have it, those of a resend too.';
create index outbound_message_provider on outbox.outbound_message (provider_message_id)
  where provider_message_id is not null;
create index outbound_message_org on outbox.outbound_message (org_id, id);
create index outbound_message_dossier on outbox.outbound_message (org_id, dossier_id, id)
  where dossier_id is not null;
create index outbound_message_status on outbox.outbound_message (org_id, status, id);
create index outbound_message_queued on outbox.outbound_message (created_at)
  where status = 'QUEUED';
create index outbound_message_sending on outbox.outbound_message (updated_at)
  where status = 'SENDING';
create index outbound_message_person on outbox.outbound_message (org_id, wa_id)
  where wa_id is not null;
create index outbound_message_correlation on outbox.outbound_message (org_id, correlation_id, id)
  where correlation_id is not null;
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
  arrived_at timestamptz,
  constraint message_attempt_of_message unique (message_id, attempt_no),
  constraint message_attempt_of_claim unique (event_id, claim),
  constraint message_attempt_of_wamid unique (phone_number_id, wamid)
);
comment on table outbox.message_attempt is
  'The attempts of a message, numbered across its resends. claim is the number of the delivery''s '
  'attempt. A claim that is released unsent deletes its row. taken_at is the time of WhatsApp''s '
  'response. sent_at, delivered_at, read_at and failed_at are from callbacks, each the earliest '
  'time that a callback reports. arrived_at is the earliest time of delivered or read, also if the '
  'attempt was reported as failed before.';

create view outbox.outbound_attempt with (security_invoker = true) as
select a.id, a.message_id as outbound_message_id, a.attempt_no, a.status, a.error_code,
  a.error_message, a.provider_response, a.next_retry_at, a.created_at, a.updated_at
from outbox.message_attempt a;
comment on view outbox.outbound_attempt is
  'The attempts of messages: TRYING, SUCCESS or FAILED, with the time of the next attempt.';
comment on column outbox.outbound_attempt.id is 'The attempt.';
comment on column outbox.outbound_attempt.outbound_message_id is 'Its message.';
comment on column outbox.outbound_attempt.attempt_no is 'Its number in the message, from 1.';
comment on column outbox.outbound_attempt.status is 'TRYING, SUCCESS or FAILED.';
comment on column outbox.outbound_attempt.error_code is
  'The code of the provider, or of Outhook. Null: it has not failed.';
comment on column outbox.outbound_attempt.error_message is 'The text of the error.';
comment on column outbox.outbound_attempt.provider_response is 'What the provider answered.';
comment on column outbox.outbound_attempt.next_retry_at is
  'When the message is sent again. Null: it is not.';
comment on column outbox.outbound_attempt.created_at is 'When the attempt began.';
comment on column outbox.outbound_attempt.updated_at is 'When it changed last.';
