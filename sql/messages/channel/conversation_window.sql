-- The 24-hour window: a message without a template may be sent only within 24 hours after the
-- recipient wrote. refusal_of() checks it when a message is created and when it is claimed.

create table outbox.conversation_window (
  channel_id uuid not null,
  recipient text not null,
  expires_at timestamptz not null,
  primary key (channel_id, recipient)
);
comment on table outbox.conversation_window is
  'The end of the time in which a recipient may get messages without a template: 24 hours after '
  'the recipient''s last message to this number. recipient is E.164 with +.';

create function outbox.open_window(
  p_channel_id uuid, p_recipient text, p_at timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.conversation_window as w (channel_id, recipient, expires_at)
  values (p_channel_id, p_recipient, p_at + interval '24 hours')
  on conflict (channel_id, recipient) do update
    set expires_at = greatest(w.expires_at, excluded.expires_at);
end
$$;
comment on function outbox.open_window(uuid, text, timestamptz) is
  'Records that a recipient (E.164 with +) wrote to a channel at p_at: messages without a '
  'template are allowed for 24 hours.';
