-- The 24-hour window: what is no template may be sent to a person only for so long after they
-- wrote. refusal_of() asks for it, at the creation of a message and at its claim.

create table outbox.conversation_window (
  channel_id uuid not null,
  recipient text not null,
  expires_at timestamptz not null,
  primary key (channel_id, recipient)
);
comment on table outbox.conversation_window is
  'Until when a person may be sent what is no template: 24 hours from their last message to that '
  'number. recipient is E.164 with its +.';

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
  'Notes that a person (E.164 with its +) wrote to a channel at that time: for 24 hours they may '
  'be sent what is no template.';
