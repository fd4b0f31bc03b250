-- The times of all updates of a call are saved in one statement.

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
    arrived_at = least(a.arrived_at, f.arrived_at),
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
      pg_catalog.min(c.at) filter (where c.rank = 1 and c.is_new) as sent_at,
      pg_catalog.min(c.at) filter (where c.rank = 2 and c.is_new) as delivered_at,
      pg_catalog.min(c.at) filter (where c.rank = 3 and c.is_new) as read_at,
      pg_catalog.min(c.at) filter (where c.rank = 4 and c.is_new) as failed_at,
      pg_catalog.min(c.at) filter (where c.rank in (2, 3)) as arrived_at,
      (pg_catalog.array_agg(c.code order by c.at, c.update_id)
        filter (where c.rank = 4 and c.is_new))[1] as code,
      (pg_catalog.array_agg(c.title order by c.at, c.update_id)
        filter (where c.rank = 4 and c.is_new))[1] as title,
      (pg_catalog.array_agg(c.details order by c.at, c.update_id)
        filter (where c.rank = 4 and c.is_new))[1] as details,
      (pg_catalog.array_agg(pg_catalog.concat_ws(': ', c.title, c.details)
        order by c.at, c.update_id) filter (where c.rank = 4 and c.is_new))[1] as error
    from pg_catalog.unnest(p_changes) c
    where c.is_new or c.arrives
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
