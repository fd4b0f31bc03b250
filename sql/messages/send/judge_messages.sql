-- Judges messages again after a response, a callback or a late id. The caller has stored it in the
-- attempt. This file updates the rest: status, id, times and error of the message, its audit and
-- activity rows, and it closes a retry that is not needed.

create function outbox.judge_messages(
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
    select m.row_at, m.id, m.status as was, m.read_at as was_read_at, t.*,
      outbox.judge(m.status, t.outcomes,
        coalesce(d.is_open, false) or (m.status = 'QUEUED' and not t.has_current)) as becomes
    from pg_catalog.unnest(p_messages) i
    cross join lateral (
      select x.ctid as row_at, x.* from outbox.outbound_message x where x.id = i offset 0
    ) m
    left join lateral (
      select true as is_open, x.replayed_at from outbox.delivery x
      where x.event_id = m.event_id and x.endpoint_id = m.channel_id offset 0
    ) d on true
    cross join lateral (
      select coalesce(pg_catalog.array_agg(s.outcome), '{}') as outcomes,
        coalesce(pg_catalog.bool_or(a.event_id = m.event_id), false) as has_current,
        (pg_catalog.array_agg(a order by least(a.delivered_at, a.read_at), a.attempt_no)
          filter (where s.outcome = 'arrived'))[1] as arrived,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where s.outcome = 'accepted'))[1] as accepted,
        (pg_catalog.array_agg(a order by a.event_id = m.event_id desc, a.attempt_no desc)
          filter (where a.status = 'FAILED'))[1] as failed,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where a.wamid is not null and a.event_id = m.event_id))[1] as named,
        pg_catalog.min(a.arrived_at) as delivered_at, pg_catalog.min(a.read_at) as read_at,
        pg_catalog.count(a.arrived_at) as copies
      from outbox.message_attempt a
      cross join lateral outbox.attempt_outcome(a, a.event_id = m.event_id
        and (d.replayed_at is null or a.created_at >= d.replayed_at)) as s (outcome)
      where a.message_id = m.id offset 0
    ) t
  ), decided as materialized (
    select f.*, case f.becomes
        when 'DELIVERED' then f.arrived
        when 'SENT' then f.accepted
        when 'FAILED' then f.named
      end as source,
      -- A message may also have failed without an attempt: its channel was deleted, or a policy
      -- forbids it.
      f.becomes in ('SENDING', 'CANCELLED') or (f.becomes = f.was
        and not (f.becomes = 'FAILED' and (f.failed).failed_at is not null)) as keeps_error
    from facts f
  ), moved as (
    update outbox.outbound_message m set
      status = t.becomes,
      provider_message_id = (t.source).wamid,
      sent_at = coalesce((t.source).taken_at,
        least((t.source).sent_at, (t.source).delivered_at, (t.source).read_at)),
      delivered_at = t.delivered_at,
      read_at = t.read_at,
      copies = t.copies,
      error_code = case
        when t.becomes in ('SENT', 'DELIVERED') then null
        when t.keeps_error then m.error_code
        else (t.failed).error_code
      end,
      error_message = case
        when t.becomes in ('SENT', 'DELIVERED') then null
        when t.keeps_error then m.error_message
        else (t.failed).error_message
      end,
      updated_at = p_now
    from decided t
    where m.ctid = t.row_at and outbox.status_may_change(m.status, t.becomes)
    returning t.id, t.was, t.becomes, case t.becomes
        when 'FAILED' then (t.failed).id
        else (t.source).id
      end as attempt_id,
      t.becomes = 'DELIVERED' and t.was_read_at is null and m.read_at is not null as now_read
  )
  select pg_catalog.array_agg(
      row(x.id, x.was, x.becomes, x.attempt_id)::outbox.changed_message order by x.id)
      filter (where x.was <> x.becomes),
    pg_catalog.count(*) filter (where x.now_read)
  into v_moves, v_read
  from moved x;
  perform outbox.count_message('READ', null, v_read);
  perform outbox.count_changed_messages(v_moves);
  perform outbox.record_moves(v_moves, p_now);
  return coalesce(v_moves, '{}');
end
$$;
comment on function outbox.judge_messages(bigint[], timestamptz) is
  'Sets the status, id, times and error of messages from all their attempts, with their audit and '
  'activity rows; returns those whose status changed. locks: the caller holds the messages.';

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

create function outbox.record_moves(
  p_moves outbox.changed_message[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row record;
  v_message outbox.outbound_message;
begin
  for v_row in
    select x.was, x.became, o.message, a.attempt_no, a.failed_at is not null as by_callback,
      a.provider_response ->> 'title' as title, a.provider_response ->> 'details' as details
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select m as message from outbox.outbound_message m where m.id = x.message_id offset 0
    ) o
    left join lateral (
      select y.* from outbox.message_attempt y where y.id = x.attempt_id offset 0
    ) a on true
    where x.became = 'FAILED'
      or (x.became in ('SENT', 'DELIVERED') and x.was not in ('SENT', 'DELIVERED'))
    order by x.message_id
  loop
    v_message := v_row.message;
    if v_row.became = 'FAILED' then
      perform outbox.record_failure(v_message, v_row.by_callback, v_row.title, v_row.details,
        p_now);
    else
      perform outbox.audit_message(v_message, 'SENT', 'Message sent successfully', null, p_now);
      perform outbox.add_activity(v_message, 'MESSAGE_SENT',
        pg_catalog.jsonb_build_object('attempt', v_row.attempt_no), p_now);
    end if;
  end loop;
end
$$;
comment on function outbox.record_moves(outbox.changed_message[], timestamptz) is
  'Adds the audit and activity rows of messages that were sent or have failed.';

create function outbox.record_failure(
  p_message outbox.outbound_message, p_by_callback boolean, p_title text, p_details text,
  p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- The error of a response contains its code.
  perform outbox.audit_message(p_message, 'FAILED',
    'Message failed: ' || case when p_by_callback then p_message.error_code || ' ' else '' end
      || p_message.error_message, null, p_now);
  perform outbox.add_activity(p_message, 'MESSAGE_FAILED', pg_catalog.jsonb_strip_nulls(
    pg_catalog.jsonb_build_object('errorCode', p_message.error_code,
      'error', case when p_by_callback then p_title else p_message.error_message end,
      'details', case when p_by_callback then p_details end)), p_now);
end
$$;
comment on function outbox.record_failure(
  outbox.outbound_message, boolean, text, text, timestamptz) is
  'Adds the audit and activity rows of a message that has failed: "Message failed: …", with code, '
  'title and details.';

create function outbox.close_needless_retries(
  p_messages bigint[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row record;
  v_delivery outbox.delivery;
begin
  for v_row in
    select m.id, m.status, m.event_id, m.channel_id
    from pg_catalog.unnest(p_messages) i
    cross join lateral (
      select o.* from outbox.outbound_message o where o.id = i offset 0
    ) m
    where m.status not in ('QUEUED', 'SENDING')
    order by m.id
  loop
    -- A leased delivery stays: its result closes it.
    select * into v_delivery from outbox.delivery d
    where d.event_id = v_row.event_id and d.endpoint_id = v_row.channel_id
      and d.leased_until is null;
    if found then
      perform outbox.close_delivery(v_delivery, 'cancelled',
        pg_catalog.format('the message is %s', v_row.status), p_now);
    end if;
    update outbox.dead_letter x
    set discarded_at = p_now, note = pg_catalog.format('the message is %s', v_row.status)
    where x.event_id = v_row.event_id and x.endpoint_id = v_row.channel_id
      and x.discarded_at is null and v_row.status in ('SENT', 'DELIVERED');
  end loop;
end
$$;
comment on function outbox.close_needless_retries(bigint[], timestamptz) is
  'Closes the retry of messages that need none, and discards the dead letter of those that were '
  'sent: a retry would send a second message and delay the next one to this recipient. locks: the '
  'caller holds the gates and the messages.';
