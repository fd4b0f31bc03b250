-- Callbacks: updates from Meta about messages, inbound messages, and notices about accounts. Meta
-- sends each update at least once, in any order, in concurrent requests, up to 1,000 updates in
-- one. A repeat may be grouped differently, so each update is a row with its own key.
--
--   callback_store     receive_callbacks(): stores new updates in one insert and applies them
--   callback_count     count_callbacks(): the responses to callbacks
--   callback_apply     apply_callbacks(), a step of the tick: applies waiting updates
--   callback_status*   statuses of messages; callback_record and callback_failure: their effects
--   inbound_message    inbound messages and preferences; link: who is one person
--   notice             templates, accounts and numbers: holds and their end
--
-- Only the verdict of a row changes (update_status): applied, skipped with a reason, or kept until
-- a message has its id. next_check_at is null for nearly all rows, so its two indexes stay empty
-- and a verdict adds no index entry.

create table outbox.whatsapp_update (
  id bigint generated always as identity primary key,
  app_id text not null,
  key text not null,
  kind text not null
    constraint whatsapp_update_kind_is_known check (
      kind in ('status', 'message', 'preference', 'template', 'account', 'quality', 'other')
    ),
  field text,
  waba_id text,
  phone_number_id text,
  display text,
  wamid text,
  status text,
  callback_data text,
  wa_id text,
  user_id text,
  happened_at timestamptz not null,
  data jsonb not null,
  received_at timestamptz not null,
  org_id text,
  channel_id uuid,
  message_id bigint,
  attempt_id bigint,
  update_status text not null
    constraint whatsapp_update_status_is_known check (
      update_status in ('stored', 'applied', 'skipped', 'kept')
    ),
  reason text,
  next_check_at timestamptz,
  checks integer not null default 0,
  constraint whatsapp_update_once unique (app_id, key)
);
comment on table outbox.whatsapp_update is
  'Updates from Meta, each once by its key, with the app, the channel, the message and the '
  'original (data). '
  'update_status is the verdict: stored (not applied yet), applied, skipped (with a reason) or '
  'kept (waits until a message has its id). happened_at is Meta''s time, or the time of arrival if '
  'Meta''s is missing or implausible.';
create index whatsapp_update_due on outbox.whatsapp_update (next_check_at)
  where next_check_at is not null;
create index whatsapp_update_due_org on outbox.whatsapp_update (org_id, next_check_at)
  where next_check_at is not null;
create index whatsapp_update_kept on outbox.whatsapp_update (phone_number_id, wamid)
  where next_check_at is not null;
create index whatsapp_update_message on outbox.whatsapp_update (message_id, id)
  where message_id is not null;
create index whatsapp_update_age on outbox.whatsapp_update (received_at);

create table outbox.callback_count (
  shard integer not null,
  kind text not null,
  update_status text not null,
  reason text not null,
  n bigint not null,
  primary key (shard, kind, update_status, reason)
);
comment on table outbox.callback_count is
  'The number of updates by verdict since the installation: the sum over shards. A session adds '
  'to one shard, so that sessions rarely wait for each other. reason is empty if there is none.';

create type outbox.status_change as (
  update_id bigint,
  attempt_id bigint,
  message_id bigint,
  status text,
  rank integer,
  at timestamptz,
  wamid text,
  code text,
  title text,
  details text,
  is_new boolean,
  was text,
  arrives boolean,
  is_copy boolean,
  update_status text,
  reason text
);
comment on type outbox.status_change is
  'A status from WhatsApp and its verdict. rank: 1 sent, 2 delivered, 3 read or played, 4 failed; '
  'is_new: it adds a time to its attempt; was: the status of the message before; arrives: it is '
  'the first report that its attempt arrived; is_copy: another attempt of the message arrived '
  'before.';

create type outbox.changed_message as (
  message_id bigint,
  was text,
  became text,
  attempt_id bigint
);
comment on type outbox.changed_message is
  'A message whose status changed, and the attempt that decides the new one.';
