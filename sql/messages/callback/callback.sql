-- Callbacks: what Meta reports of messages, and what people write. Meta delivers each at least
-- once, in no order, several at a time, up to 1,000 updates in one, and may group a repeat
-- differently. So each update is a row of its own, known by its key, whatever came with it.
--
--   receive_callbacks()   57   stores what is new in one insert, then applies it
--   apply_callbacks()     57   from the tick: what could not be applied at once, what waits
--   statuses              57   what became of the attempts of messages
--   messages, preferences 58   what people write, and whether they want to hear more
--   templates, accounts   59   what is held, and what lifts that
--
-- The row never changes but for its verdict: applied, skipped with the reason, or kept because no
-- message has its id yet. next_check_at is when it is looked at again and null for nearly all, so that
-- the two indexes on it stay empty and the verdict costs no index an entry.

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
  'Updates from Meta as they came (data), each once: of which app''s callbacks, for whom, and '
  'what came of it. stored: not applied yet; skipped: reason says why; kept: until a message has '
  'its id. happened_at is Meta''s time, or the time of its arrival where that is missing or '
  'absurd.';
create index whatsapp_update_due on outbox.whatsapp_update (next_check_at) where next_check_at is not null;
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
  'How many updates came to each end, since the installation: the sum over shards, each of which '
  'is some sessions'' own so that they do not wait for one another. reason is empty where there is '
  'none.';

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
  update_status text,
  reason text
);
comment on type outbox.status_change is
  'One status and what comes of it. rank: 1 sent, 2 delivered, 3 read or played, 4 failed; is_new: '
  'it adds to the facts of its try.';

create type outbox.changed_message as (
  message_id bigint,
  was text,
  became text
);
comment on type outbox.changed_message is 'A message whose status changed.';
