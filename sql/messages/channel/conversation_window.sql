-- The 24-hour window: a message without a template may be sent only within 24 hours after the
-- recipient wrote. check_sending() checks it when a message is created and when it is claimed.

create table outbox.conversation_window (
  channel_id uuid not null,
  person_id bigint not null,
  expires_at timestamptz not null,
  primary key (channel_id, person_id)
);
comment on table outbox.conversation_window is
  'The end of the time in which a person may get messages without a template: 24 hours after the '
  'person''s last message to this number.';
create index conversation_window_person on outbox.conversation_window (person_id);

create function outbox.open_window(
  p_channel_id uuid, p_person_id bigint, p_at timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.conversation_window as w (channel_id, person_id, expires_at)
  values (p_channel_id, p_person_id, p_at + interval '24 hours')
  on conflict (channel_id, person_id) do update
    set expires_at = greatest(w.expires_at, excluded.expires_at);
end
$$;
comment on function outbox.open_window(uuid, bigint, timestamptz) is
  'Records that a person wrote to a channel at p_at: messages without a template are allowed for '
  '24 hours. locks: the caller holds the person.';
