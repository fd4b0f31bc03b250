-- Statuses: what became of a try. Facts first: each try keeps the earliest time at which WhatsApp
-- says that it was sent, delivered, read or failed, which comes out the same in whatever order the
-- updates come; the message's status follows from the facts of its newest try. DELIVERED, FAILED
-- and CANCELLED are final. Of a try that both failed and was delivered, the first word stands.
--
-- A try is old once a later one may have been sent. It then says no more of its message than that
-- it was taken, which ends a pending retry while no other has been.
--
-- The gates of messages that wait for a retry are locked first, for that retry is closed here. One
-- that is being sent needs none: its lease stands, and its result finds the message changed.

create function outbox.apply_statuses(
  p_ids bigint[], p_now timestamptz
) returns outbox.wish[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_messages bigint[];
  v_gates uuid[];
  v_changes outbox.status_change[];
  v_moves outbox.message_move[];
begin
  v_messages := array(
    select distinct u.message_id
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.state in ('stored', 'kept') and u.message_id is not null
    order by u.message_id);
  v_gates := array(
    select distinct m.channel_id
    from pg_catalog.unnest(v_messages) i
    cross join lateral (select x.* from outbox.outbound_message x where x.id = i offset 0) m
    where m.status = 'QUEUED');
  if pg_catalog.cardinality(v_gates) > 0 then
    perform outbox.lock_gates(v_gates);
  end if;
  perform from pg_catalog.unnest(v_messages) i
  cross join lateral (
    select from outbox.outbound_message m where m.id = i for no key update
  ) m;
  v_changes := outbox.judge_statuses(p_ids, v_gates);
  perform outbox.note_statuses(v_changes, p_now);
  v_moves := outbox.move_messages(array(
    select distinct c.message_id from pg_catalog.unnest(v_changes) c where c.noted
    order by c.message_id), p_now);
  perform outbox.tell_statuses(v_changes, v_moves, p_now);
  perform outbox.close_retries(v_moves, p_now);
  perform outbox.settle_updates(
    array(select c.update_id from pg_catalog.unnest(v_changes) c),
    array(select c.state from pg_catalog.unnest(v_changes) c),
    array(select c.reason from pg_catalog.unnest(v_changes) c), p_now);
  return outbox.heed_failures(v_changes, p_now);
end
$$;
comment on function outbox.apply_statuses(bigint[], timestamptz) is
  'Applies the statuses among stored updates, and returns what they say that people want. locks: '
  'the gates of messages that wait for a retry, by id, then messages by id.';

create function outbox.judge_statuses(
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
  with given as materialized (
    select u.id, u.attempt_id, u.status, u.wamid, u.happened_at as at, u.data,
      case u.status
        when 'sent' then 1 when 'delivered' then 2 when 'read' then 3 when 'played' then 3
        when 'failed' then 4
      end as rank
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.state in ('stored', 'kept')
  ), met as materialized (
    select g.*, a.id as try_id, a.message_id, a.wamid as known_as, m.status as message_status,
      m.erased_at, m.status = 'QUEUED' and m.channel_id <> all (p_gates) as unlocked,
      a.event_id = m.event_id as of_this_life, l.newer, l.newer_out,
      a.failed_at is not null as has_failed,
      a.delivered_at is not null or a.read_at is not null as has_arrived,
      case g.rank
        when 1 then a.sent_at when 2 then a.delivered_at when 3 then a.read_at else a.failed_at
      end as known_at
    from given g
    left join lateral (
      select x.* from outbox.message_attempt x where x.id = g.attempt_id offset 0
    ) a on true
    left join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m on true
    left join lateral (
      select pg_catalog.count(*) > 0 as newer,
        coalesce(pg_catalog.bool_or(outbox.may_be_out(b)), false) as newer_out
      from outbox.message_attempt b
      where b.message_id = a.message_id and b.attempt_no > a.attempt_no
    ) l on true
  ), ranked as (
    -- Within one call the earlier of failed and delivered counts as the first word.
    select m.*,
      pg_catalog.row_number() over (partition by m.try_id, m.rank order by m.at, m.id) as nth,
      pg_catalog.first_value(m.rank) over (
        partition by m.try_id order by coalesce(m.rank, 0) > 1 desc, m.at, m.id) = 4 as fails_first,
      pg_catalog.min(m.wamid) over (partition by m.try_id) as first_wamid
    from met m
  ), judged as (
    select r.*, case
        when r.try_id is null then 'unknown_message'
        when r.rank is null then 'unknown_status'
        when r.erased_at is not null then 'erased'
        when r.wamid <> coalesce(r.known_as, r.first_wamid) then 'other_id'
        when r.unlocked then 'retry_pending'
        when r.rank = 4 and (r.has_arrived or (not r.has_failed and not r.fails_first))
          then 'after_delivered'
        when r.rank in (2, 3) and (r.has_failed or (not r.has_arrived and r.fails_first))
          then 'after_failed'
        when r.known_at is not null or r.nth > 1 then 'already'
        when r.message_status = 'CANCELLED' then 'message_cancelled'
        when not r.of_this_life or (r.rank = 4 and r.newer) then 'old_attempt'
        when r.newer_out and r.message_status not in ('QUEUED', 'SENDING') then 'old_attempt'
        when r.message_status = 'FAILED' then 'message_failed'
        when r.message_status = 'DELIVERED' and r.rank = 4 then 'after_delivered'
        when r.message_status = 'DELIVERED' and r.rank < 3 then 'behind'
      end as why
    from ranked r
  )
  select pg_catalog.array_agg(row(
      j.id, j.try_id, j.message_id, j.status, j.rank, j.at, j.wamid,
      case when j.rank = 4 then coalesce(e.error ->> 'code', 'failed') end,
      case when j.rank = 4 then pg_catalog.left(
        coalesce(e.error ->> 'title', e.error ->> 'message', f.title, 'failed'), 500) end,
      case when j.rank = 4 then pg_catalog.left(coalesce(
        e.error #>> '{error_data,details}', e.error ->> 'details'), 1000) end,
      coalesce(j.why not in ('unknown_message', 'unknown_status', 'erased', 'other_id',
        'retry_pending', 'after_delivered', 'after_failed'), true),
      case
        when j.why is null then 'applied'
        when j.why = 'retry_pending' then 'stored'
        when j.why = 'unknown_message' then 'kept'
        else 'skipped'
      end, j.why)::outbox.status_change
    order by j.message_id, j.rank, j.at, j.id)
  into v_changes
  from judged j
  left join lateral (
    select j.data #> '{errors,0}' as error where j.rank = 4 offset 0
  ) e on true
  left join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = e.error ->> 'code';
  return coalesce(v_changes, '{}');
end
$$;
comment on function outbox.judge_statuses(bigint[], uuid[]) is
  'What comes of each status among stored updates, before anything is changed. The caller holds '
  'the messages, and the gates given.';

create function outbox.may_be_out(p_attempt outbox.message_attempt) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return p_attempt.status <> 'FAILED' or p_attempt.wamid is not null
    or coalesce(p_attempt.error_code, '')
      in ('timeout', 'reset', 'protocol', 'lease_expired', 'incomplete');
end
$$;
comment on function outbox.may_be_out(outbox.message_attempt) is
  'Whether a try may have reached WhatsApp: it is under way, was taken, or nobody knows.';

create function outbox.note_statuses(
  p_changes outbox.status_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update outbox.message_attempt a set
    wamid = coalesce(a.wamid, f.wamid),
    status = case
      when f.failed_at is not null or a.failed_at is not null then 'FAILED'
      else 'SUCCESS'
    end,
    sent_at = least(a.sent_at, f.sent_at),
    delivered_at = least(a.delivered_at, f.delivered_at),
    read_at = least(a.read_at, f.read_at),
    failed_at = least(a.failed_at, f.failed_at),
    error_code = case
      when a.failed_at is not null then a.error_code
      else f.code
    end,
    error_message = case
      when a.failed_at is not null then a.error_message
      else f.error
    end,
    provider_response = case
      when f.failed_at is not null and a.failed_at is null
      then coalesce(a.provider_response, '{}') || pg_catalog.jsonb_strip_nulls(
        pg_catalog.jsonb_build_object('title', f.title, 'details', f.details))
      else a.provider_response
    end,
    next_retry_at = null,
    updated_at = p_now
  from (
    select c.attempt_id, pg_catalog.min(c.wamid) as wamid,
      pg_catalog.min(c.at) filter (where c.rank = 1) as sent_at,
      pg_catalog.min(c.at) filter (where c.rank = 2) as delivered_at,
      pg_catalog.min(c.at) filter (where c.rank = 3) as read_at,
      pg_catalog.min(c.at) filter (where c.rank = 4) as failed_at,
      (pg_catalog.array_agg(c.code order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as code,
      (pg_catalog.array_agg(c.title order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as title,
      (pg_catalog.array_agg(c.details order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as details,
      (pg_catalog.array_agg(pg_catalog.concat_ws(': ', c.title, c.details)
        order by c.at, c.update_id) filter (where c.rank = 4))[1] as error
    from pg_catalog.unnest(p_changes) c
    where c.noted
    group by c.attempt_id
  ) f
  -- By ctid: only who holds the message changes its tries.
  cross join lateral (
    select x.ctid as row_at from outbox.message_attempt x where x.id = f.attempt_id offset 0
  ) x
  where a.ctid = x.row_at;
end
$$;
comment on function outbox.note_statuses(outbox.status_change[], timestamptz) is
  'Adds statuses to the facts of their tries. The caller holds the messages.';

create function outbox.move_messages(
  p_messages bigint[], p_now timestamptz
) returns outbox.message_move[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_moves outbox.message_move[];
  v_read bigint;
begin
  with told as materialized (
    select m.row_at, m.id, m.status as was, m.read_at as was_read_at, t.newest, t.last_out,
      t.last_taken,
      case
        when m.status in ('DELIVERED', 'FAILED', 'CANCELLED') then m.status
        when (t.last_out).delivered_at is not null or (t.last_out).read_at is not null
          then 'DELIVERED'
        when (t.newest).failed_at is not null then 'FAILED'
        when m.status in ('QUEUED', 'SENDING') and t.taken then 'SENT'
        else m.status
      end as becomes
    from pg_catalog.unnest(p_messages) i
    cross join lateral (
      select x.ctid as row_at, x.* from outbox.outbound_message x where x.id = i offset 0
    ) m
    cross join lateral (
      select (pg_catalog.array_agg(a order by a.attempt_no desc))[1] as newest,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where outbox.may_be_out(a)))[1] as last_out,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where a.wamid is not null))[1] as last_taken,
        coalesce(pg_catalog.bool_or(a.status = 'SUCCESS'), false) as taken
      from outbox.message_attempt a where a.message_id = m.id and a.event_id = m.event_id
      offset 0
    ) t
  ), moved as (
    -- Statuses only rise, and the three last ones are final: whatever the plan, this never lowers.
    update outbox.outbound_message m set
      status = t.becomes,
      provider_message_id = (t.last_taken).wamid,
      sent_at = coalesce((t.last_taken).taken_at, least((t.last_taken).sent_at,
        (t.last_taken).delivered_at, (t.last_taken).read_at)),
      delivered_at = case
        when t.becomes = 'DELIVERED'
        then least((t.last_out).delivered_at, (t.last_out).read_at)
      end,
      read_at = case when t.becomes = 'DELIVERED' then (t.last_out).read_at end,
      error_code = case when t.becomes = 'FAILED' then (t.newest).error_code end,
      error_message = case when t.becomes = 'FAILED' then (t.newest).error_message end,
      updated_at = p_now
    from told t
    where m.ctid = t.row_at and m.status = t.was and outbox.may_become(m.status, t.becomes)
      -- What failed or waits for another reason than its callbacks is none of theirs.
      and (t.becomes in ('SENT', 'DELIVERED')
        or (t.becomes = 'FAILED' and (t.newest).failed_at is not null))
    returning t.id, t.was, t.becomes, t.was_read_at is null and m.read_at is not null as now_read
  )
  select pg_catalog.array_agg(row(x.id, x.was, x.becomes)::outbox.message_move order by x.id)
      filter (where x.was <> x.becomes),
    pg_catalog.count(*) filter (where x.now_read)
  into v_moves, v_read
  from moved x;
  perform outbox.count_message('READ', null, v_read);
  perform outbox.count_message(c.became, c.error_code, c.n)
  from (
    select x.became, m.error_code, pg_catalog.count(*) as n
    from pg_catalog.unnest(v_moves) x
    cross join lateral (
      select o.error_code from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    group by x.became, m.error_code
  ) c;
  return coalesce(v_moves, '{}');
end
$$;
comment on function outbox.move_messages(bigint[], timestamptz) is
  'Gives messages the status, times and error that follow from the facts of their tries; returns '
  'those whose status changed. The caller holds the messages.';

create function outbox.close_retries(
  p_moves outbox.message_move[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_delivery outbox.delivery;
begin
  for v_delivery in
    select d.*
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.* from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    cross join lateral (
      select o.* from outbox.delivery o
      where o.event_id = m.event_id and o.endpoint_id = m.channel_id offset 0
    ) d
    where x.was = 'QUEUED' and d.leased_until is null
    order by m.id
  loop
    perform outbox.close_delivery(v_delivery, 'cancelled',
      'its callback says what became of the attempt before', p_now);
  end loop;
end
$$;
comment on function outbox.close_retries(outbox.message_move[], timestamptz) is
  'Closes the pending retries of messages that callbacks took further. The caller holds the gates.';
