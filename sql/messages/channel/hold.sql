-- Holds: WhatsApp has stopped a number, an account or a template. A hold has a cause, and the
-- opposite update lifts it. Of two updates, the one with the later time counts, in any order of
-- arrival. A held channel is a paused endpoint. Messages with a held template wait, and each
-- recipient's messages stay in order. resume_endpoint() lifts all holds of a channel.

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
  'The last decision about a channel by cause: failure (an error code of WhatsApp), account or '
  'quality. decided_at is Meta''s time. At expires_at Meta ends the hold itself.';
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
  'The last decision about a template of an account, by Meta''s name and language (with _). '
  'app_id is the app that received the update: it applies only to channels of this app, because '
  'the secret of one app proves nothing about another app.';

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
  'The action for an update about a template, an account or a number: hold, lift, or note (an '
  'operational event only). Change a rule with UPDATE. An event without a rule is stored and '
  'skipped.';

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
  ('account_update', 'ACCOUNT_UNRESTRICTION', 'lift', 'account', 'Account is no longer restricted'),
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
