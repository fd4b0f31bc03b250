-- Shows one message and its attempts, newest first: the response of the provider, and the time of
-- the next attempt. Use it for a question about one message, or if a callback names one. Name the
-- message in the query, or set outhook.message = '…' before it: its id, the provider's id
-- (wamid.…), or organisation and idempotency key as org-123/key-1. Good: DELIVERED. Number and
-- payload are not shown.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.message', true), '') as text
),
asked as materialized (
  select m.* from wanted w
  join outbox.outbound_message m on m.id = case
    when w.text ~ '^[0-9]{1,18}$' then w.text::bigint
  end
  union
  select m.* from wanted w
  join outbox.outbound_message m on m.provider_message_id = w.text
  where w.text <> ''
  union
  select m.* from wanted w
  join outbox.outbound_message m on m.org_id = pg_catalog.split_part(w.text, '/', 1)
    and m.idempotency_key = pg_catalog.substr(w.text, pg_catalog.strpos(w.text, '/') + 1)
  where w.text ~ '/'
)
select
  m.id as message_id,
  m.org_id,
  m.correlation_id,
  m.status,
  m.attempt_count,
  m.max_attempts,
  m.provider_message_id,
  m.error_code,
  m.error_message,
  m.created_at,
  m.updated_at,
  m.sent_at,
  m.delivered_at,
  m.read_at,
  a.attempt_no,
  a.status as attempt_status,
  a.error_code as attempt_error,
  a.error_message as attempt_message,
  a.created_at as attempted_at,
  a.next_retry_at,
  case
    when m.status = 'FAILED' then
      pg_catalog.format('select outbox.resend_message(%L, %L);', m.org_id, m.id)
    when m.status = 'QUEUED' then
      pg_catalog.format('select outbox.cancel_message(%L, %L);', m.org_id, m.id)
  end as command
from asked m
left join lateral (
  select a.* from outbox.outbound_attempt a
  where a.outbound_message_id = m.id order by a.attempt_no desc limit 50
) a on true
union all
select null, null, null, 'no such message', null, null, null, null,
  case
    when w.text = '' then 'outhook.message is not set'
    when w.text ~ '^[0-9]{1,18}$' then pg_catalog.format('message %s does not exist', w.text)
    else pg_catalog.format(
      'outhook.message is %L: neither an id, the id of a provider, nor organisation/key', w.text)
  end,
  null, null, null, null, null, null, null, null, null, null, null, null
from wanted w where not exists (select from asked)
order by message_id, attempt_no desc;
