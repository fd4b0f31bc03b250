-- Holds of a channel by cause: a failure, the account, the quality of the number. The channel is
-- paused while at least one cause holds it. An update that is older than the last one changes
-- nothing.

create function outbox.hold_channel(
  p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamptz,
  p_expires_at timestamptz, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set lock_timeout = '20ms'
as $$
declare
  v_endpoint outbox.endpoint;
begin
  select * into v_endpoint from outbox.endpoint e where e.id = p_channel_id
  for no key update nowait;
  insert into outbox.channel_hold as h (channel_id, cause, held, why, decided_at, expires_at)
  values (p_channel_id, p_cause, p_held, p_why, p_at, p_expires_at)
  on conflict (channel_id, cause) do update set
    held = excluded.held, why = excluded.why, decided_at = excluded.decided_at,
    expires_at = excluded.expires_at
  where excluded.decided_at > h.decided_at
    or (excluded.decided_at = h.decided_at and excluded.held and not h.held);
  if not found then
    return;
  end if;
  if p_held and v_endpoint.status = 'enabled' and coalesce(p_expires_at > p_now, true) then
    perform outbox.set_endpoint_status(p_channel_id, 'paused', 'held: ' || p_why);
    perform outbox.announce('outhook.channel.held', array[p_channel_id]);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'HELD',
      'held: ' || p_why, null, p_now);
  elsif not p_held and v_endpoint.status = 'paused' and v_endpoint.status_reason like 'held:%'
    and not exists (
      select from outbox.channel_hold h where h.channel_id = p_channel_id and h.held)
  then
    perform outbox.set_endpoint_status(p_channel_id, 'enabled', null);
    perform outbox.announce('outhook.channel.resumed', array[p_channel_id]);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'RESUMED', p_why, null,
      p_now);
  end if;
end
$$;
comment on function outbox.hold_channel(
  uuid, text, boolean, text, timestamptz, timestamptz, timestamptz) is
  'Holds a channel for a cause, or lifts that cause, unless a later update was applied. When the '
  'last cause is lifted, the channel resumes, unless an operator paused it. locks: the endpoint, '
  'without waiting, then the hold; 55P03 after 20 ms.';

create function outbox.hold_cause(p_code text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- These two codes are about the account: an update that it is reinstated lifts the hold.
  return case when p_code in ('131031', '368') then 'account' else 'failure' end;
end
$$;
comment on function outbox.hold_cause(text) is
  'The cause of a hold for an error code of WhatsApp.';

create function outbox.lift_expired_holds(p_now timestamptz) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_deadline timestamptz := outbox.job_deadline();
  v_hold outbox.channel_hold;
  v_lifted integer := 0;
begin
  for v_hold in
    select h.* from outbox.channel_hold h
    join outbox.endpoint e on e.id = h.channel_id
    where h.held and h.expires_at <= p_now
    order by h.expires_at limit 100
    for no key update of e skip locked
  loop
    begin
      perform outbox.hold_channel(v_hold.channel_id, v_hold.cause, false, 'the hold has expired',
        greatest(v_hold.expires_at, v_hold.decided_at + interval '1 us'), null, p_now);
      v_lifted := v_lifted + 1;
    exception when query_canceled or assert_failure or others then
      if outbox.fails_upkeep(sqlstate) then
        raise;
      end if;
      perform outbox.refuse_upkeep('outbox.lift_expired_holds',
        pg_catalog.format('the hold %s of channel %s', v_hold.cause, v_hold.channel_id), sqlstate,
        sqlerrm, '5 minutes');
    end;
    -- After a timeout, nothing ends the statement any more.
    exit when pg_catalog.clock_timestamp() >= v_deadline;
  end loop;
  return v_lifted;
end
$$;
comment on function outbox.lift_expired_holds(timestamptz) is
  'Lifts holds that have expired; returns how many.';

create function outbox.lift_holds() returns trigger
language plpgsql set search_path = ''
as $$
begin
  update outbox.channel_hold h set held = false, decided_at = new.updated_at
  where h.channel_id = new.id and h.held;
  return null;
end
$$;
comment on function outbox.lift_holds() is
  'Trigger: resuming a channel lifts its holds.';

create trigger resumed_channel_has_no_hold
  after update of status on outbox.endpoint
  for each row when (new.kind = 'whatsapp' and new.status = 'enabled')
  execute function outbox.lift_holds();

create or replace function outbox.still_held(p_endpoint_id uuid) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- WhatsApp may have stopped the channel while its token was unreadable.
  return (
    select 'held: ' || h.why from outbox.channel_hold h
    where h.channel_id = p_endpoint_id and h.held limit 1);
end
$$;
