-- What WhatsApp itself has stopped: a number, an account, a template. A hold has a cause and is
-- lifted by the update that says the contrary, in whatever order the two come: the later word
-- counts. A channel with a hold is a paused endpoint; a template with one keeps its messages back,
-- each person's in order. resume_endpoint() lifts whatever holds a channel.

create table outbox.channel_hold (
  channel_id uuid not null,
  cause text not null,
  held boolean not null,
  why text not null,
  decided_at timestamptz not null,
  expires_at timestamptz,
  primary key (channel_id, cause)
);
comment on table outbox.channel_hold is
  'The last word on a channel by cause: failure (a code of WhatsApp''s), account, quality. '
  'decided_at is Meta''s time; expires_at when Meta ends it by itself.';
create index channel_hold_expires on outbox.channel_hold (expires_at)
  where held and expires_at is not null;

create table outbox.template_hold (
  app_id text not null,
  waba_id text not null,
  name text not null,
  language text not null,
  held boolean not null,
  why text not null,
  decided_at timestamptz not null,
  primary key (app_id, waba_id, name, language)
);
comment on table outbox.template_hold is
  'The last word on a template of an account, by Meta''s name and language (with _), as an app '
  'heard it: the secret of one says nothing of the channels of another.';

create table outbox.notice_rule (
  field text not null,
  event text not null,
  action text not null
    constraint notice_rule_action_is_known check (action in ('hold', 'lift', 'note')),
  cause text not null
    constraint notice_rule_cause_is_known check (cause in ('template', 'account', 'quality')),
  title text not null,
  primary key (field, event)
);
comment on table outbox.notice_rule is
  'What an update about a template, an account or a number means: hold, lift, or note, which is an '
  'operational event alone. One UPDATE changes it; an event in no row is stored and skipped.';

insert into outbox.notice_rule (field, event, action, cause, title) values
  ('message_template_status_update', 'PAUSED', 'hold', 'template', 'Template is paused'),
  ('message_template_status_update', 'DISABLED', 'hold', 'template', 'Template is disabled'),
  ('message_template_status_update', 'REJECTED', 'hold', 'template', 'Template was rejected'),
  ('message_template_status_update', 'PENDING', 'hold', 'template', 'Template is in review'),
  ('message_template_status_update', 'LOCKED', 'hold', 'template', 'Template is locked'),
  ('message_template_status_update', 'ARCHIVED', 'hold', 'template', 'Template is archived'),
  ('message_template_status_update', 'PENDING_DELETION', 'hold', 'template',
    'Template is being deleted'),
  ('message_template_status_update', 'DELETED', 'hold', 'template', 'Template was deleted'),
  ('message_template_status_update', 'LIMIT_EXCEEDED', 'note', 'template',
    'The account has too many templates'),
  ('message_template_status_update', 'FLAGGED', 'note', 'template',
    'Template may soon be disabled'),
  ('message_template_status_update', 'APPROVED', 'lift', 'template', 'Template is approved'),
  ('message_template_status_update', 'REINSTATED', 'lift', 'template', 'Template is reinstated'),
  ('message_template_status_update', 'UNPAUSED', 'lift', 'template', 'Template is unpaused'),
  ('message_template_status_update', 'UNPAUSE', 'lift', 'template', 'Template is unpaused'),
  ('message_template_status_update', 'UNARCHIVED', 'lift', 'template', 'Template is unarchived'),
  ('message_template_status_update', 'UNLOCKED', 'lift', 'template', 'Template is unlocked'),
  ('account_update', 'ACCOUNT_RESTRICTION', 'hold', 'account', 'Account is restricted'),
  ('account_update', 'ACCOUNT_UNRESTRICTION', 'lift', 'account', 'Account is restricted no more'),
  ('account_update', 'DISABLE', 'hold', 'account', 'Account is disabled'),
  ('account_update', 'SCHEDULE_FOR_DISABLE', 'note', 'account', 'Account will be disabled'),
  ('account_update', 'REINSTATE', 'lift', 'account', 'Account is reinstated'),
  ('account_update', 'ACCOUNT_VIOLATION', 'note', 'account', 'Account violates a policy'),
  ('account_update', 'ACCOUNT_DELETED', 'hold', 'account', 'Account was deleted'),
  ('account_update', 'ACCOUNT_OFFBOARDED', 'hold', 'account', 'Account left the app'),
  ('account_update', 'ACCOUNT_RECONNECTED', 'lift', 'account', 'Account is back'),
  ('account_update', 'PARTNER_REMOVED', 'hold', 'account', 'The app lost its access'),
  ('account_update', 'PARTNER_ADDED', 'lift', 'account', 'The app has access'),
  ('account_update', 'PARTNER_APP_UNINSTALLED', 'hold', 'account', 'The app was removed'),
  ('account_update', 'PARTNER_APP_INSTALLED', 'lift', 'account', 'The app was installed'),
  ('phone_number_quality_update', 'FLAGGED', 'hold', 'quality', 'Quality of the number is low'),
  ('phone_number_quality_update', 'UNFLAGGED', 'lift', 'quality', 'Quality of the number rose'),
  ('phone_number_quality_update', 'DOWNGRADE', 'note', 'quality', 'Limit of the number fell'),
  ('phone_number_quality_update', 'UPGRADE', 'note', 'quality', 'Limit of the number rose'),
  ('phone_number_quality_update', 'THROUGHPUT_UPGRADE', 'note', 'quality',
    'Throughput of the number rose');
