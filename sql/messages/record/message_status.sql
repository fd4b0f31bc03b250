-- The statuses of a message. A change of a single message uses save_message(), which rejects any
-- transition that is not listed here:
--
--   QUEUED -> SENDING -> SENT -> DELIVERED     the claim, the response, a callback
--   SENDING -> QUEUED                          an attempt failed and is retried
--   QUEUED | SENDING | SENT -> FAILED          no retry is left, or a callback reports a failure
--   SENT -> SENDING | QUEUED                   the attempt that was sent failed during another one
--   FAILED -> SENT -> DELIVERED                a callback reports an attempt without a response
--   QUEUED -> CANCELLED, FAILED -> QUEUED      cancel_message() and resend_message()

create function outbox.status_may_change(p_from text, p_to text) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return p_from = p_to or (p_from, p_to) in (
    ('QUEUED', 'SENDING'), ('QUEUED', 'FAILED'), ('QUEUED', 'CANCELLED'),
    -- The response was lost or came after the lease; it is known before the next attempt.
    ('QUEUED', 'SENT'), ('QUEUED', 'DELIVERED'),
    ('SENDING', 'QUEUED'), ('SENDING', 'SENT'), ('SENDING', 'FAILED'), ('SENDING', 'DELIVERED'),
    ('SENT', 'DELIVERED'), ('SENT', 'FAILED'), ('SENT', 'SENDING'), ('SENT', 'QUEUED'),
    ('FAILED', 'QUEUED'), ('FAILED', 'SENT'), ('FAILED', 'DELIVERED'));
end
$$;
comment on function outbox.status_may_change(text, text) is
  'Whether a message may change from one status to another.';

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
  'Counts p_n messages that got a status.';

create function outbox.save_message(
  p_message outbox.outbound_message, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_before text;
begin
  select m.status into v_before from outbox.outbound_message m where m.id = p_message.id for update;
  if not outbox.status_may_change(v_before, p_message.status) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s and cannot become %s', p_message.id, v_before,
        p_message.status),
      hint = 'Cancel a message only while it is QUEUED; resend it only after it is FAILED';
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
  if v_before <> p_message.status then
    perform outbox.count_message(p_message.status, p_message.error_code);
  end if;
end
$$;
comment on function outbox.save_message(outbox.outbound_message, timestamptz) is
  'Updates a message. OH004: its status may not change to the new one. locks: the message.';

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
  perform outbox.audit_message(p_message, 'FAILED', 'Message failed: ' || p_error, null, p_now);
  perform outbox.add_activity(p_message, 'MESSAGE_FAILED',
    pg_catalog.jsonb_build_object('errorCode', p_code, 'error', p_error), p_now);
end
$$;
comment on function outbox.fail_message(outbox.outbound_message, text, text, timestamptz) is
  'Sets a message to FAILED and adds its audit and activity rows. OH004. locks: the message.';
