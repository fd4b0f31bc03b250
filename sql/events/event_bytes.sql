-- How many bytes of events an organisation may publish in a day (UTC). Routing adds up the bytes of
-- each batch, because only one run routes at a time: so it waits for nobody. A publisher only reads
-- whether its organisation has used up its day, in the statement that stores its event. So an
-- organisation can exceed its limit by what it publishes until routing has counted, normally less
-- than a second. Without a limit nothing is counted, and the table is empty.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.event_mib_per_day', '0', 'integer', 0, 1000000, true,
    'How many MiB of payloads an organisation may publish in a day (UTC), in SQL too; 0: no limit');

create table outbox.event_bytes (
  org_id text primary key,
  day date not null,
  bytes bigint not null,
  spent_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table outbox.event_bytes is
  'The bytes of the payloads that were routed on that day (UTC), of organisations, while one of '
  'them has a limit. spent_until: the end of the day if they reach its limit; infinity: see '
  'close_publishing().';

create function outbox.most_event_bytes(p_org_id text) returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return nullif(outbox.org_setting_int(p_org_id, 'limit.event_mib_per_day'), 0) * 1048576::bigint;
end
$$;
comment on function outbox.most_event_bytes(text) is
  'How many bytes of payloads an organisation may publish in a day; null: no limit.';

create function outbox.count_event_bytes(p_rows_at tid[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_orgs text[];
begin
  if outbox.setting_int('limit.event_mib_per_day') = 0 and not exists (
    select from outbox.org_setting o where o.name = 'limit.event_mib_per_day')
  then
    return;
  end if;
  with counted as (
    insert into outbox.event_bytes as b (org_id, day, bytes)
    select e.org_id, outbox.day_of(p_now), pg_catalog.sum(e.bytes)
    from pg_catalog.unnest(p_rows_at) r (row_at)
    cross join lateral (
      select u.event_id from outbox.unrouted u
      where u.ctid = r.row_at and u.is_backfill is null offset 0
    ) u
    cross join lateral (
      select e.org_id, pg_catalog.octet_length(e.body) as bytes from outbox.event e
      where e.id = u.event_id offset 0
    ) e
    group by e.org_id
    on conflict (org_id) do update set
      day = excluded.day,
      bytes = excluded.bytes + case when b.day = excluded.day then b.bytes else 0 end
    returning b.org_id
  )
  select pg_catalog.array_agg(c.org_id) into v_orgs from counted c;
  update outbox.event_bytes b set spent_until = s.until
  from pg_catalog.unnest(v_orgs) o (org_id)
  cross join lateral (
    select case
      when x.bytes >= outbox.most_event_bytes(x.org_id) then outbox.day_end(p_now)
      else '-infinity'
    end as until
    from outbox.event_bytes x where x.org_id = o.org_id offset 0
  ) s
  -- The publishing of an organisation that moves stays closed.
  where b.org_id = o.org_id and b.spent_until <> s.until and b.spent_until < 'infinity';
end
$$;
comment on function outbox.count_event_bytes(tid[], timestamptz) is
  'Counts the bytes of the payloads of rows of unrouted for their organisations, but not those of '
  'a backfill, with which an operator would stop the application from publishing. Does nothing '
  'while no organisation has a limit. The caller holds the router, so it waits for nobody.';

create function outbox.check_event_bytes(p_org_id text, p_now timestamptz) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_most bigint := outbox.most_event_bytes(p_org_id);
begin
  perform outbox.refuse_moved(p_org_id);
  if exists (
    select from outbox.event_bytes b
    where b.org_id = p_org_id and b.spent_until > p_now and b.bytes >= v_most
      -- The clock may have been set back.
      and b.day = outbox.day_of(p_now))
  then
    perform outbox.refuse_for_today('limit.event_mib_per_day',
      pg_catalog.format('organisation %s may publish at most %s MiB of events a day', p_org_id,
        v_most / 1048576), p_now);
  end if;
end
$$;
comment on function outbox.check_event_bytes(text, timestamptz) is
  'Raises OH012 if the organisation moves or has moved to another project, and OH011 if it has '
  'published its bytes of the day. Nothing is raised if its limit was raised or removed meanwhile.';

create function outbox.close_publishing(p_org_id text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.event_bytes as b (org_id, day, bytes, spent_until)
  values (p_org_id, outbox.day_of(p_now), 0, 'infinity')
  on conflict (org_id) do update set spent_until = 'infinity';
end
$$;
comment on function outbox.close_publishing(text, timestamptz) is
  'Makes every publisher of an organisation call check_event_bytes(), which raises OH012 while it '
  'moves. Publishers read event_bytes anyway, so a move costs the others nothing.';

create function outbox.open_publishing(p_org_id text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.event_bytes b set spent_until = case
    when b.day = outbox.day_of(p_now) and b.bytes >= outbox.most_event_bytes(p_org_id)
    then outbox.day_end(p_now)
    else '-infinity'
  end
  where b.org_id = p_org_id and b.spent_until = 'infinity';
end
$$;
comment on function outbox.open_publishing(text, timestamptz) is
  'The reverse of close_publishing().';
