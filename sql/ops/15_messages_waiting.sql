-- Shows messages that wait too long: the oldest QUEUED ones that have attempts left, and those that
-- have been SENDING for more than ten minutes because their run died. Use it when messages do not
-- arrive. Good: only young messages, and none SENDING. The next claim takes SENDING ones back
-- automatically. It shows 50 of each, without number and payload.

select m.*, greatest(now() - m.created_at, '0') as age, e.status as channel_status, e.status_reason,
  a.next_retry_at,
  case
    when e.status <> 'enabled' then outbox.release_command(m.channel_id) || ';'
    else pg_catalog.format('select outbox.retry_now(%L, %L);', m.event_id, m.channel_id)
  end as command
from (
  (
    select q.id as message_id, q.org_id, q.status, q.attempt_count, q.max_attempts, q.created_at,
      q.updated_at, q.channel_id, q.event_id
    from outbox.outbound_message q
    where q.status = 'QUEUED' and q.attempt_count < q.max_attempts
    order by q.created_at
    limit 50
  )
  union all
  (
    select s.id, s.org_id, s.status, s.attempt_count, s.max_attempts, s.created_at, s.updated_at,
      s.channel_id, s.event_id
    from outbox.outbound_message s
    where s.status = 'SENDING' and s.updated_at < now() - interval '10 minutes'
    order by s.updated_at
    limit 50
  )
) m
join outbox.endpoint e on e.id = m.channel_id
left join lateral (
  select a.next_retry_at from outbox.outbound_attempt a
  where a.outbound_message_id = m.message_id order by a.attempt_no desc limit 1
) a on true
order by m.status, m.created_at;
