-- The status of a message, judged from all its attempts. Whenever anything becomes known about one
-- of them (a response, a callback, a lost lease), the message is judged again, so the order in
-- which it becomes known does not matter. Each attempt is in one of these outcomes:
--
--   open      it is being sent
--   refused   it failed without a callback: refused, or its response was lost
--   accepted  WhatsApp has accepted it
--   arrived   a callback reports it as delivered or read
--   failed    a callback reports it as failed
--
-- An attempt that arrived never fails and one that failed never arrives: the first report counts.

create function outbox.attempt_outcome(
  p_attempt outbox.message_attempt, p_is_current boolean
) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_attempt.delivered_at is not null or p_attempt.read_at is not null then 'arrived'
    -- Somebody sent the message again after that failure.
    when p_attempt.failed_at is not null and not p_is_current then 'refused'
    when p_attempt.failed_at is not null then 'failed'
    when p_attempt.status = 'SUCCESS' then 'accepted'
    when p_attempt.status = 'TRYING' then 'open'
    else 'refused'
  end;
end
$$;
comment on function outbox.attempt_outcome(outbox.message_attempt, boolean) is
  'The outcome of an attempt: open, refused, accepted, arrived or failed. p_is_current: nobody has '
  'sent the message again since.';

create function outbox.judge(
  p_status text, p_outcomes text[], p_has_retry boolean
) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_status = 'CANCELLED' then 'CANCELLED'
    when 'arrived' = any (p_outcomes) then 'DELIVERED'
    when 'accepted' = any (p_outcomes) then 'SENT'
    -- Only proof that WhatsApp accepted an attempt changes a message that has failed.
    when p_status = 'FAILED' then 'FAILED'
    when 'open' = any (p_outcomes) then 'SENDING'
    when 'failed' = any (p_outcomes) or not p_has_retry then 'FAILED'
    else 'QUEUED'
  end;
end
$$;
comment on function outbox.judge(text, text[], boolean) is
  'The status of a message: p_status is its status so far, p_outcomes has the outcome of each '
  'attempt as attempt_outcome(), in any order, and p_has_retry says whether its delivery is open.';
