-- The result of each status: applied, skipped with a reason, or kept. classify_statuses() finds
-- what is new for its attempt, before anything changes. judge_statuses() says what it meant for the
-- message, after judge_messages().

create function outbox.classify_statuses(
  p_ids bigint[], p_gates uuid[]
) returns outbox.status_change[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_changes outbox.status_change[];
begin
  with statuses as materialized (
    select u.id, u.attempt_id, u.status, u.wamid, u.happened_at as at, u.data,
      case u.status
        when 'sent' then 1 when 'delivered' then 2 when 'read' then 3 when 'played' then 3
        when 'failed' then 4
      end as rank
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.update_status in ('stored', 'kept')
  ), matched as materialized (
    select g.*, a.id as matched_id, a.message_id, a.wamid as known_wamid,
      m.status as message_status, m.erased_at,
      m.status in ('QUEUED', 'FAILED') and m.channel_id <> all (p_gates) as unlocked,
      a.failed_at is not null as has_failed,
      a.delivered_at is not null or a.read_at is not null as has_arrived,
      a.arrived_at is null and g.rank in (2, 3) as may_arrive, m.copies,
      case g.rank
        when 1 then a.sent_at when 2 then a.delivered_at when 3 then a.read_at else a.failed_at
      end as known_at
    from statuses g
    left join lateral (
      select x.* from outbox.message_attempt x where x.id = g.attempt_id offset 0
    ) a on true
    left join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m on true
  ), ranked as (
    -- Within one call, the earlier of failed and delivered counts as the first report.
    select m.*,
      pg_catalog.row_number() over (partition by m.matched_id, m.rank order by m.at, m.id) as nth,
      pg_catalog.first_value(m.rank) over (
        partition by m.matched_id order by coalesce(m.rank, 0) > 1 desc, m.at, m.id
      ) = 4 as fails_first,
      pg_catalog.min(m.wamid) over (partition by m.matched_id) as first_wamid,
      pg_catalog.row_number() over (
        partition by m.matched_id order by coalesce(m.rank, 0) in (2, 3) desc, m.at, m.id
      ) as nth_arrival
    from matched m
  ), classified as (
    select r.*, case
        when r.matched_id is null then 'unknown_message'
        when r.rank is null then 'unknown_status'
        when r.erased_at is not null then 'erased'
        when r.wamid <> coalesce(r.known_wamid, r.first_wamid) then 'other_id'
        -- Decided only while the gate is held. Otherwise the moment of the call would decide which
        -- report is the first.
        when r.unlocked then 'retry_pending'
        when r.rank = 4 and (r.has_arrived or (not r.has_failed and not r.fails_first))
          then 'after_delivered'
        when r.rank in (2, 3) and (r.has_failed or (not r.has_arrived and r.fails_first))
          then 'after_failed'
        when r.known_at is not null or r.nth > 1 then 'already'
      end as reason
    from ranked r
  ), arrived as (
    select k.*, a.arrives, a.arrives and (k.copies > 0 or pg_catalog.count(*)
      filter (where a.arrives) over (partition by k.message_id order by k.at, k.id) > 1) as is_copy
    from classified k
    cross join lateral (
      select coalesce(k.may_arrive and k.nth_arrival = 1
        and (k.reason is null or k.reason = 'after_failed'), false) as arrives
    ) a
  )
  select pg_catalog.array_agg(row(
      j.id, j.matched_id, j.message_id, j.status, j.rank, j.at, j.wamid,
      case when j.rank = 4 then coalesce(e.error ->> 'code', 'failed') end,
      case when j.rank = 4 then pg_catalog.left(
        coalesce(e.error ->> 'title', e.error ->> 'message', f.title, 'failed'), 500) end,
      case when j.rank = 4 then pg_catalog.left(coalesce(
        e.error #>> '{error_data,details}', e.error ->> 'details'), 1000) end,
      coalesce(j.reason not in ('unknown_message', 'unknown_status', 'erased', 'other_id',
        'retry_pending', 'after_delivered', 'after_failed'), true),
      j.message_status, j.arrives, coalesce(j.is_copy, false),
      case
        when j.reason is null then 'applied'
        when j.reason = 'retry_pending' then 'stored'
        when j.reason = 'unknown_message' then 'kept'
        else 'skipped'
      end, j.reason)::outbox.status_change
    order by j.message_id, j.rank, j.at, j.id)
  into v_changes
  from arrived j
  left join lateral (
    select j.data #> '{errors,0}' as error where j.rank = 4 offset 0
  ) e on true
  left join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = e.error ->> 'code';
  return coalesce(v_changes, '{}');
end
$$;
comment on function outbox.classify_statuses(bigint[], uuid[]) is
  'The verdict on each status of stored updates, before anything changes. The caller holds the '
  'messages and the gates in p_gates.';

create function outbox.judge_statuses(
  p_changes outbox.status_change[]
) returns outbox.status_change[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return array(
    select row(c.update_id, c.attempt_id, c.message_id, c.status, c.rank, c.at, c.wamid, c.code,
      c.title, c.details, c.is_new, c.was, c.arrives, c.is_copy,
      case
        when v.reason is null then c.update_status
        else 'skipped'
      end, coalesce(c.reason, v.reason))::outbox.status_change
    from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id,
      status, rank, at, wamid, code, title, details, is_new, was, arrives, is_copy,
      update_status, reason, place)
    left join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m on true
    cross join lateral (
      select case
        when c.reason is not null then null
        when m.status = 'CANCELLED' then 'message_cancelled'
        when c.is_copy then 'second_copy'
        when c.rank = 4 and m.status <> 'FAILED' then 'other_attempt'
        when c.was = 'FAILED' and m.status = 'FAILED' then 'message_failed'
        when c.rank = 1 and m.status = 'FAILED' and m.provider_message_id <> c.wamid
          then 'other_attempt'
        when c.rank < 4 and m.provider_message_id <> c.wamid then 'other_attempt'
        when c.rank < 3 and c.was = 'DELIVERED' then 'behind'
      end as reason
    ) v
    order by c.place);
end
$$;
comment on function outbox.judge_statuses(outbox.status_change[]) is
  'The same statuses with their final verdict: one that is new for its attempt is skipped if the '
  'message is cancelled, has failed, has a later status, or has it from another attempt. The '
  'caller has judged the messages.';
