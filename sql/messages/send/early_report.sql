-- Reports of a provider that come before the response with its id is recorded: the provider may be
-- faster than the next call of the run. They wait here for a day and are applied with the response.
-- A channel has at most most_early_reports() of them: whoever writes to the callback of a provider
-- chooses the ids. A further one deletes the oldest hundred: the response usually comes within
-- seconds.

create table outbox.early_report (
  channel_id uuid not null,
  provider_id text not null,
  status text not null,
  at timestamptz not null,
  code text,
  error text,
  received_at timestamptz not null,
  primary key (channel_id, provider_id, status)
);
comment on table outbox.early_report is
  'Reports of channels other than WhatsApp whose id no attempt has yet: see report_status(). '
  'Deleted after a day.';
create index early_report_age on outbox.early_report (received_at);

create function outbox.most_early_reports() returns integer
language sql immutable set search_path = ''
as $$
  -- Three reports of each of the 1,000 messages that a channel may have in flight. Each report
  -- counts those that wait, while it holds the gate: with 10,000, a burst of reports delayed the
  -- sends of the channel.
  select 3000
$$;
comment on function outbox.most_early_reports() is
  'How many reports of one channel may wait for a response.';

create function outbox.keep_report(
  p_channel_id uuid, p_provider_id text, p_status text, p_at timestamptz, p_code text,
  p_error text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- Deleted together, so that a burst of reports sorts, and writes the refusal, only once in a
  -- hundred.
  v_removed constant integer := 100;
begin
  if pg_catalog.length(p_provider_id) not between 1 and 200 or exists (
    select from outbox.early_report e
    where e.channel_id = p_channel_id and e.provider_id = p_provider_id and e.status = p_status)
  then
    return;
  end if;
  -- Older ones are left to forget_early_reports(), so that the two do not wait for each other's
  -- rows.
  if (
    select pg_catalog.count(*)
    from (
      select from outbox.early_report e
      where e.channel_id = p_channel_id and e.received_at > p_now - interval '1 day'
      limit outbox.most_early_reports()
    ) e
  ) >= outbox.most_early_reports() then
    delete from outbox.early_report e where e.ctid = any (array(
      select o.ctid from outbox.early_report o
      where o.channel_id = p_channel_id and o.received_at > p_now - interval '1 day'
      order by o.received_at limit v_removed));
    perform outbox.refuse_upkeep('outbox.keep_report',
      pg_catalog.format('a report of channel %s', p_channel_id), 'OH010',
      pg_catalog.format('%s reports of it wait for a response, so the oldest %s were deleted',
        outbox.most_early_reports(), v_removed),
      interval '1 day');
  end if;
  insert into outbox.early_report (channel_id, provider_id, status, at, code, error, received_at)
  select c.endpoint_id, p_provider_id, p_status, p_at, pg_catalog.left(p_code, 100),
    pg_catalog.left(p_error, 1000), p_now
  from outbox.message_channel c
  where c.endpoint_id = p_channel_id
  on conflict do nothing;
end
$$;
comment on function outbox.keep_report(
  uuid, text, text, timestamptz, text, text, timestamptz) is
  'Stores a report whose id no attempt of the channel has yet. If most_early_reports() of the '
  'channel wait already, the oldest hundred are deleted, and queue_health says so for a day. '
  'locks: the caller holds the gate, so the count is exact.';

create function outbox.apply_early_reports(p_results outbox.result[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_report outbox.early_report;
  v_sqlstate text;
begin
  if not exists (select from outbox.early_report) then
    return;
  end if;
  for v_report in
    select e.* from pg_catalog.unnest(p_results) r
    join outbox.early_report e on e.channel_id = r.endpoint and e.provider_id = r.provider_id
    order by e.provider_id, e.received_at, e.status
  loop
    -- The response must be stored, otherwise the message is sent again.
    begin
      delete from outbox.early_report e
      where e.channel_id = v_report.channel_id and e.provider_id = v_report.provider_id
        and e.status = v_report.status;
      perform outbox.report_status(v_report.channel_id, v_report.provider_id, v_report.status,
        v_report.at, v_report.code, v_report.error);
    exception when query_canceled or assert_failure or others then
      if outbox.fails_upkeep(sqlstate) then
        raise;
      end if;
      v_sqlstate := sqlstate;
      perform outbox.refuse_upkeep('outbox.apply_early_reports',
        pg_catalog.format('report %s of message %s', v_report.status, v_report.provider_id),
        sqlstate, sqlerrm, interval '1 day');
    end;
    -- The statement timeout fires only once.
    exit when outbox.is_timeout(v_sqlstate);
  end loop;
end
$$;
comment on function outbox.apply_early_reports(outbox.result[]) is
  'Applies the reports that came before these results. One that the database refuses stays, and '
  'is shown in upkeep_refusal for a day. locks: the caller holds the gates and the messages of the '
  'results.';

create function outbox.forget_early_reports(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  return outbox.change_rows('outbox.forget_early_reports', 'outbox.early_report',
    'delete from outbox.early_report e where e.ctid = any ($1)',
    array(
      select o.ctid from outbox.early_report o
      where o.received_at < p_now - interval '1 day'
      order by o.received_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_early_reports(timestamptz, integer) is
  'Deletes up to p_limit reports that have waited for a day; returns how many.';

insert into outbox.cleanup_step (name, calls) values
  ('early_reports', 'outbox.forget_early_reports');
