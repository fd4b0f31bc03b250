-- Applies updates: at once when they are stored, and from the tick those that failed or wait for
-- their message. An error leaves the updates stored; then each update is applied alone.

create function outbox.try_apply(p_ids bigint[], p_now timestamptz) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_sqlstate text;
  v_error text;
begin
  begin
    perform outbox.apply_updates(p_ids, p_now);
  exception when query_canceled or assert_failure or others then
    v_sqlstate := sqlstate;
    v_error := sqlerrm;
  end;
  if v_sqlstate is null then
    return true;
  end if;
  begin
    perform outbox.postpone_updates(p_ids, v_error, v_sqlstate, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) then
      raise;
    end if;
    -- Of several, each is postponed alone.
    if pg_catalog.cardinality(p_ids) = 1 then
      perform outbox.refuse_upkeep('outbox.apply_callbacks', 'WhatsApp update ' || p_ids[1],
        sqlstate, sqlerrm, '5 minutes');
    end if;
  end;
  return false;
end
$$;
comment on function outbox.try_apply(bigint[], timestamptz) is
  'Applies stored updates and returns true. After an error it returns false: the updates stay '
  'stored and are checked again later.';

create function outbox.postpone_updates(
  p_ids bigint[], p_error text, p_sqlstate text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- A lock timeout, a deadlock or a statement timeout: the update itself is valid.
  v_is_temporary boolean := p_sqlstate in ('55P03', '40P01', '57014');
begin
  -- After 1, 4, 16, … s, at most 1 h. The ninth error, after about 5 h, skips the update.
  update outbox.whatsapp_update u set
    update_status = case
      when u.checks >= 8 and not v_is_temporary then 'skipped'
      else u.update_status
    end,
    reason = case
      when u.checks >= 8 and not v_is_temporary then 'error'
      else pg_catalog.left('error: ' || p_error, 200)
    end,
    checks = least(u.checks + 1, case when v_is_temporary then 3 end),
    next_check_at = case
      when u.checks < 8 or v_is_temporary
      then p_now + least(interval '1 s' * 4 ^ least(u.checks, 6), interval '1 hour')
    end
  where u.id = any (p_ids) and u.update_status in ('stored', 'kept');
end
$$;
comment on function outbox.postpone_updates(bigint[], text, text, timestamptz) is
  'Records the error and its SQLSTATE for updates that could not be applied, and the time of the '
  'next check.';

create function outbox.apply_updates(p_ids bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
-- A long lock on a message or its gate postpones the updates, so that the response to Meta is not
-- delayed. It ends before PostgreSQL looks for a deadlock (deadlock_timeout, 1 s): a run that holds
-- people waits for the message of its next claim, which may wait here for these people.
set lock_timeout = '500ms'
as $$
declare
  v_opt_outs outbox.opt_out_change[];
begin
  v_opt_outs := outbox.apply_statuses(p_ids, p_now);
  -- This locks all people of the call: see the head of person.
  perform outbox.join_people(outbox.links_of_updates(p_ids), p_now);
  v_opt_outs := outbox.apply_inbound(p_ids, v_opt_outs, p_now);
  if pg_catalog.cardinality(v_opt_outs) > 0 then
    perform outbox.save_opt_outs(v_opt_outs, p_now);
  end if;
  perform outbox.apply_notices(p_ids, p_now);
  perform outbox.save_display_numbers(p_ids);
end
$$;
comment on function outbox.apply_updates(bigint[], timestamptz) is
  'Applies stored updates of every kind and saves their verdicts. locks: gates by id, then '
  'messages by id, people from the highest id to the lowest, opt-outs by key.';

create function outbox.save_display_numbers(p_ids bigint[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.whatsapp_channel c set display_digits = x.display
  from (
    select distinct on (u.channel_id) u.channel_id, u.display
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.display is not null and u.channel_id is not null
    order by u.channel_id, u.id desc
  ) x
  join lateral (
    -- Skip a locked channel: its next callback stores the number.
    select w.ctid as row_at from outbox.whatsapp_channel w
    where w.endpoint_id = x.channel_id and w.display_digits is distinct from x.display
    for no key update skip locked
  ) h on true
  where c.ctid = h.row_at;
end
$$;
comment on function outbox.save_display_numbers(bigint[]) is
  'Stores the display numbers of channels. Only callbacks contain them, and an update of a '
  'number''s quality identifies the number only by this.';

create function outbox.find_attempts(p_ids bigint[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.whatsapp_update u set message_id = a.message_id, attempt_id = a.id
  from pg_catalog.unnest(p_ids) i
  cross join lateral (
    select x.ctid as row_at, x.* from outbox.whatsapp_update x
    where x.id = i and x.kind = 'status' offset 0
  ) w
  cross join lateral outbox.find_attempt(w.org_id, w.phone_number_id, w.wamid, w.callback_data) a
  where u.ctid = w.row_at and a.id is not null;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
    raise;
  elsif pg_catalog.cardinality(p_ids) = 1 then
    perform outbox.refuse_upkeep('outbox.apply_callbacks', 'WhatsApp update ' || p_ids[1],
      sqlstate, sqlerrm, '5 minutes');
  else
    for v_place in 1 .. pg_catalog.cardinality(p_ids) loop
      perform outbox.find_attempts(p_ids[v_place:v_place]);
    end loop;
  end if;
end
$$;
comment on function outbox.find_attempts(bigint[]) is
  'Assigns updates to the attempts of their messages; if the database refuses one, all others are '
  'assigned. locks: the caller holds the updates.';

create function outbox.apply_callbacks(p_limit integer default 500) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_until timestamptz := pg_catalog.clock_timestamp() + interval '2 s';
  v_oldest constant integer := 5000;
  v_ids bigint[];
  v_id bigint;
begin
  v_ids := array(
    with recursive oldest as materialized (
      select u.id, u.org_id, u.next_check_at from outbox.whatsapp_update u
      where u.next_check_at <= v_now
      order by u.next_check_at limit v_oldest
    ), orgs (org_id) as (
      -- Only if there are so many: one organisation may have them all.
      select (
        select u.org_id from outbox.whatsapp_update u
        where u.org_id > '' and u.next_check_at is not null order by u.org_id limit 1)
      where (select pg_catalog.count(*) from oldest) = v_oldest
      union all
      select (
        select u.org_id from outbox.whatsapp_update u
        where u.org_id > o.org_id and u.next_check_at is not null order by u.org_id limit 1)
      from orgs o
      where o.org_id is not null
    ), of_each as (
      select u.*
      from (select o.org_id from orgs o limit v_oldest) o
      cross join lateral (
        select u.id, u.org_id, u.next_check_at from outbox.whatsapp_update u
        where u.org_id = o.org_id and u.next_check_at <= v_now
        order by u.next_check_at limit 10
      ) u
    )
    select o.id
    from (select w.* from oldest w union select e.* from of_each e) o
    order by pg_catalog.row_number() over (partition by o.org_id order by o.next_check_at, o.id),
      o.next_check_at
    limit p_limit);
  if pg_catalog.cardinality(v_ids) > 0 then
    v_ids := array(
      select u.id from outbox.whatsapp_update u
      where u.id = any (v_ids) and u.next_check_at <= v_now
      order by u.next_check_at
      for update skip locked);
  end if;
  perform outbox.lift_expired_holds(v_now);
  if pg_catalog.cardinality(v_ids) = 0 then
    return 0;
  end if;
  perform outbox.find_attempts(v_ids);
  if not outbox.try_apply(v_ids, v_now) and pg_catalog.cardinality(v_ids) > 1 then
    foreach v_id in array v_ids loop
      -- Each update may wait for a lock, so stop after 2 s: the tick continues next time.
      exit when pg_catalog.clock_timestamp() > v_until;
      perform outbox.try_apply(array[v_id], v_now);
    end loop;
  end if;
  begin
    perform outbox.count_updates(v_ids);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) then
      raise;
    end if;
    -- The updates are applied; only their counts are lost.
    perform outbox.refuse_upkeep('outbox.apply_callbacks', 'counts of WhatsApp updates', sqlstate,
      sqlerrm, '5 minutes');
  end;
  return pg_catalog.cardinality(v_ids);
end
$$;
comment on function outbox.apply_callbacks(integer) is
  'Checks up to p_limit waiting updates again; returns how many. Organisations take turns among '
  'the 5,000 that have waited longest and the first 10 of each organisation. If they cannot be '
  'applied together, each is applied alone.';

create function outbox.save_verdicts(
  p_ids bigint[], p_statuses text[], p_reasons text[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update outbox.whatsapp_update u set
    update_status = x.update_status, reason = x.reason,
    checks = u.checks + (x.update_status in ('stored', 'kept'))::integer,
    -- A kept update is applied when its message gets the id. These checks are for two concurrent
    -- transactions that do not see each other; the last check is in the nightly cleanup.
    next_check_at = case
      when x.update_status = 'stored' then p_now
      when x.update_status = 'kept' then case u.checks
        when 0 then p_now + interval '5 s'
        when 1 then p_now + interval '1 minute'
        when 2 then p_now + interval '10 minutes'
        else 'infinity'
      end
    end
  from unnest(p_ids, p_statuses, p_reasons) as x (id, update_status, reason)
  cross join lateral (
    select w.ctid as row_at from outbox.whatsapp_update w where w.id = x.id offset 0
  ) w
  where u.ctid = w.row_at;
end
$$;
comment on function outbox.save_verdicts(bigint[], text[], text[], timestamptz) is
  'Saves the verdicts of updates: applied, skipped or kept, with the reason. An update whose '
  'verdict is still stored is checked again within a second.';

create function outbox.count_updates(p_ids bigint[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  insert into outbox.callback_count as c (shard, kind, update_status, reason, n)
  select pg_catalog.pg_backend_pid() % 16, u.kind, u.update_status, coalesce(u.reason, ''),
    pg_catalog.count(*)
  from pg_catalog.unnest(p_ids) i
  cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
  -- A waiting update is counted once as kept and once with its final verdict.
  where u.update_status in ('applied', 'skipped') or (u.update_status = 'kept' and u.checks = 1)
  group by u.kind, u.update_status, coalesce(u.reason, '')
  order by u.kind, u.update_status, coalesce(u.reason, '')
  on conflict (shard, kind, update_status, reason) do update set n = c.n + excluded.n;
end
$$;
comment on function outbox.count_updates(bigint[]) is
  'Adds updates with a verdict to callback_count. locks: this session''s shard.';

create function outbox.take_waiting_updates(p_results outbox.result[]) returns bigint[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_ids bigint[];
begin
  -- Skip locked updates: apply_callbacks() holds them and finds the message itself.
  with matched as materialized (
    select k.id, a.message_id, a.id as attempt_id
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select x.* from outbox.message_attempt x
      where x.event_id = r.event and x.claim = r.attempt offset 0
    ) a
    cross join lateral (
      select w.id, w.org_id from outbox.whatsapp_update w
      where w.next_check_at is not null and w.phone_number_id = a.phone_number_id
        and w.wamid = a.wamid and w.kind = 'status' offset 0
    ) k
    cross join lateral (
      select m.org_id from outbox.outbound_message m where m.id = a.message_id offset 0
    ) m
    where r.outcome = 'delivered' and r.provider_id is not null and m.org_id = k.org_id
  ), locked as materialized (
    select m.*, u.row_at from matched m
    cross join lateral (
      select w.ctid as row_at from outbox.whatsapp_update w
      where w.id = m.id for update skip locked
    ) u
  ), assigned as (
    update outbox.whatsapp_update u set message_id = h.message_id, attempt_id = h.attempt_id
    from locked h
    where u.ctid = h.row_at
    returning u.id
  )
  select pg_catalog.array_agg(f.id order by f.id) into v_ids from assigned f;
  return coalesce(v_ids, '{}'::bigint[]);
end
$$;
comment on function outbox.take_waiting_updates(outbox.result[]) is
  'Assigns the waiting updates of messages that have just got their id, and returns them. locks: '
  'updates with SKIP LOCKED; the caller holds the gates and the messages.';

create or replace function outbox.more_counters()
returns table (metric text, labels text[], n bigint, total bigint)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select 'callbacks', array[c.kind, c.update_status, c.reason], pg_catalog.sum(c.n)::bigint,
    0::bigint
  from outbox.callback_count c
  group by c.kind, c.update_status, c.reason;
end
$$;

create function outbox.apply_callbacks_step(p_now timestamptz, p_most integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return case when p_now is not null then outbox.apply_callbacks(p_most) end;
end
$$;
comment on function outbox.apply_callbacks_step(timestamptz, integer) is
  'Step of the tick: calls apply_callbacks().';

insert into outbox.tick_step (name, calls, most) values
  ('callbacks', 'outbox.apply_callbacks_step', 500);
