-- Times and statuses are saved in one statement each for all updates of a call.

create function outbox.save_statuses(
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
    where c.is_new
    group by c.attempt_id
  ) f
  -- By ctid: only the transaction that holds the message changes its attempts.
  cross join lateral (
    select x.ctid as row_at from outbox.message_attempt x where x.id = f.attempt_id offset 0
  ) x
  where a.ctid = x.row_at;
end
$$;
comment on function outbox.save_statuses(outbox.status_change[], timestamptz) is
  'Adds the times and errors of new statuses to their attempts. The caller holds the messages.';

create function outbox.update_message_statuses(
  p_messages bigint[], p_now timestamptz
) returns outbox.changed_message[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_moves outbox.changed_message[];
  v_read bigint;
begin
  with facts as materialized (
    select m.row_at, m.id, m.status as was, m.read_at as was_read_at, t.newest, t.last_sent,
      t.last_accepted,
      case
        when m.status in ('DELIVERED', 'FAILED', 'CANCELLED') then m.status
        when (t.last_sent).delivered_at is not null or (t.last_sent).read_at is not null
          then 'DELIVERED'
        when (t.newest).failed_at is not null then 'FAILED'
        when m.status in ('QUEUED', 'SENDING') and t.accepted then 'SENT'
        else m.status
      end as becomes
    from pg_catalog.unnest(p_messages) i
    cross join lateral (
      select x.ctid as row_at, x.* from outbox.outbound_message x where x.id = i offset 0
    ) m
    cross join lateral (
      select (pg_catalog.array_agg(a order by a.attempt_no desc))[1] as newest,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where outbox.may_have_been_sent(a)))[1] as last_sent,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where a.wamid is not null))[1] as last_accepted,
        coalesce(pg_catalog.bool_or(a.status = 'SUCCESS'), false) as accepted
      from outbox.message_attempt a where a.message_id = m.id and a.event_id = m.event_id
      offset 0
    ) t
  ), moved as (
    -- Statuses only increase, and the last three are final, so this can never lower one.
    update outbox.outbound_message m set
      status = t.becomes,
      provider_message_id = (t.last_accepted).wamid,
      sent_at = coalesce((t.last_accepted).taken_at, least((t.last_accepted).sent_at,
        (t.last_accepted).delivered_at, (t.last_accepted).read_at)),
      delivered_at = case
        when t.becomes = 'DELIVERED'
        then least((t.last_sent).delivered_at, (t.last_sent).read_at)
      end,
      read_at = case when t.becomes = 'DELIVERED' then (t.last_sent).read_at end,
      error_code = case when t.becomes = 'FAILED' then (t.newest).error_code end,
      error_message = case when t.becomes = 'FAILED' then (t.newest).error_message end,
      updated_at = p_now
    from facts t
    where m.ctid = t.row_at and m.status = t.was and outbox.status_may_change(m.status, t.becomes)
      -- Skip messages that failed or wait for a reason other than their callbacks.
      and (t.becomes in ('SENT', 'DELIVERED')
        or (t.becomes = 'FAILED' and (t.newest).failed_at is not null))
    returning t.id, t.was, t.becomes, t.was_read_at is null and m.read_at is not null as now_read
  )
  select pg_catalog.array_agg(row(x.id, x.was, x.becomes)::outbox.changed_message order by x.id)
      filter (where x.was <> x.becomes),
    pg_catalog.count(*) filter (where x.now_read)
  into v_moves, v_read
  from moved x;
  perform outbox.count_message('READ', null, v_read);
  perform outbox.count_changed_messages(v_moves);
  return coalesce(v_moves, '{}');
end
$$;
comment on function outbox.update_message_statuses(bigint[], timestamptz) is
  'Sets the status, times and error of messages from the times of their attempts; returns those '
  'whose status changed. The caller holds the messages.';

create function outbox.count_changed_messages(p_moves outbox.changed_message[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform outbox.count_message(c.became, c.error_code, c.n)
  from (
    select x.became, m.error_code, pg_catalog.count(*) as n
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.error_code from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    group by x.became, m.error_code
  ) c;
end
$$;
comment on function outbox.count_changed_messages(outbox.changed_message[]) is
  'Counts the new statuses of messages, FAILED by its code.';
