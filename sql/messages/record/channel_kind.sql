-- Kinds of message channels, and the channels of each. A channel is an endpoint that has a row in
-- message_channel; its kind has a row in channel_kind. The rest of this module treats all kinds
-- alike: creation, consent, opt-outs, the pace of a recipient, attempts, status and audit. WhatsApp
-- adds templates, the 24-hour window and callbacks in tables of its own.

create table outbox.channel_kind (
  channel text primary key
    constraint channel_kind_is_a_word check (channel ~ '^[A-Z][A-Z0-9_]{0,30}$'),
  kind text not null unique references outbox.endpoint_kind (kind),
  has_templates boolean not null default false,
  has_window boolean not null default false,
  check_function text
    constraint channel_kind_check_function_is_a_name check (
      check_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    )
);
comment on table outbox.channel_kind is
  'The kinds of message channels: the name in a message (WHATSAPP) and the kind of its endpoints. '
  'has_templates: a message may name a template. has_window: without a template, a message may be '
  'sent only within 24 hours after the recipient wrote.';
comment on column outbox.channel_kind.check_function is
  'The function, with its schema, that raises OH001 for an invalid payload of a new message. Its '
  'argument is the payload. Null: only the sender checks it.';

create table outbox.message_channel (
  endpoint_id uuid primary key,
  org_id text not null,
  channel text not null,
  account text not null,
  created_at timestamptz not null
);
comment on table outbox.message_channel is
  'The endpoints that send messages. account: the sender at the provider, under which each id of '
  'the provider is unique; for WhatsApp it is Meta''s id of the number.';
create index message_channel_org on outbox.message_channel (org_id, channel);

create function outbox.channel_names() returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(select k.channel from outbox.channel_kind k order by k.channel);
end
$$;
comment on function outbox.channel_names() is
  'The names of the channels that messages, consents and opt-outs may have.';

create function outbox.add_message_channel(
  p_endpoint_id uuid, p_account text default null
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.message_channel (endpoint_id, org_id, channel, account, created_at)
  select e.id, e.org_id, k.channel, coalesce(p_account, e.id::text), e.created_at
  from outbox.endpoint e
  join outbox.channel_kind k on k.kind = e.kind
  where e.id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has no kind that sends messages', p_endpoint_id),
      hint = 'Insert a row for its kind into outbox.channel_kind';
  end if;
end
$$;
comment on function outbox.add_message_channel(uuid, text) is
  'Makes a new endpoint a message channel, as the create function of its kind does. Its ordering '
  'is partition: a message waits for the one before it to the same recipient. OH004.';

create function outbox.check_payload(p_channel text, p_payload jsonb) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_function text := (
    select k.check_function from outbox.channel_kind k where k.channel = p_channel);
begin
  if v_function is not null then
    execute pg_catalog.format('select %s($1)', v_function) using p_payload;
  end if;
end
$$;
comment on function outbox.check_payload(text, jsonb) is
  'Raises OH001 if the check function of a channel finds a fault in a payload.';
