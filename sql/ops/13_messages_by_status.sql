-- Counts the messages of an organisation by status, and shows how long the oldest ones have waited.
-- Use it when messages do not arrive. Name the organisation in the query, or set outhook.org = '…'
-- before it. Without a name, it shows the 20 organisations with the newest channels. Good: few and
-- young QUEUED and SENDING messages. Counts stop at 10,000.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.org', true), '') as text
),
asked as (
  select w.text as org_id from wanted w where w.text <> ''
  union all
  (
    select c.org_id from outbox.message_channel c cross join wanted w
    where w.text = '' group by c.org_id order by pg_catalog.max(c.created_at) desc limit 20
  )
)
select o.org_id, s.status, n.count, n.oldest_at, greatest(now() - n.oldest_at, '0') as age,
  case
    when s.status = 'QUEUED'
    then '02_what_is_stuck.sql shows why; 15_messages_waiting.sql lists them'
    when s.status = 'SENDING' then '15_messages_waiting.sql shows those of a run that died'
    when s.status = 'FAILED' then '14_one_message.sql shows why; resend_message() sends it again'
  end as next_step
from asked o
cross join pg_catalog.unnest(
  array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED'])
  with ordinality s (status, place)
cross join lateral (
  select pg_catalog.count(*) as count, pg_catalog.min(m.created_at) as oldest_at
  from (
    select m.created_at from outbox.outbound_message m
    where m.org_id = o.org_id and m.status = s.status order by m.id limit 10000
  ) m
) n
where n.count > 0
order by o.org_id, s.place;
