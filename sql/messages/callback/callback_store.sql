-- Stores callbacks. After the commit the caller responds with 200, and Meta does not repeat the
-- callback. So updates that cannot be applied now stay stored, and apply_callbacks() applies them
-- later.
--
-- An update that has no effect now, but may have one when it comes again (another X-Org-Id, a
-- channel that is created later), is stored under a key of its own. Then the later one is not a
-- repeat of it.

create function outbox.receive_callbacks(
  p_app_id text, p_org_id text default null, p_updates jsonb default '[]'
) returns jsonb
language plpgsql security definer
set search_path = ''
set statement_timeout = '8s'
as $$
declare
  v_now timestamptz := outbox.clock();
  v_ids bigint[];
begin
  perform outbox.get_whatsapp_app(p_app_id);
  if pg_catalog.jsonb_typeof(p_updates) is distinct from 'array' then
    perform outbox.invalid('updates', 'is not an array', 'Expected one object for each update');
  end if;
  v_ids := outbox.store_callbacks(p_app_id, nullif(p_org_id, ''), p_updates, v_now);
  perform outbox.try_apply(v_ids, v_now);
  perform outbox.count_updates(v_ids);
  return outbox.callback_result(v_ids, pg_catalog.jsonb_array_length(p_updates));
end
$$;
comment on function outbox.receive_callbacks(text, text, jsonb) is
  'Stores the updates of one callback of a verified app, each once, and applies them. p_org_id: '
  'the organisation that the caller gave; it only restricts the updates that are applied; null or '
  'empty: none. '
  'p_updates: [{"key", "kind", "field", "waba_id", "phone_number_id", "display", "wamid", '
  '"status", "callback_data", "at": Unix seconds, "wa_id", "user_id", "problem": why it is '
  'invalid, "data"}]. Returns {"stored", "duplicates", "applied", "skipped", "kept", "warnings"}. '
  'OH001, OH002. locks: gates by id, then messages by id.';

create function outbox.store_callbacks(
  p_app_id text, p_org_id text, p_updates jsonb, p_now timestamptz
) returns bigint[]
language plpgsql
set search_path = ''
-- Index lookups whatever the statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_ids bigint[];
begin
  with updates as (
    select g.*, x.problem is not null or coalesce(pg_catalog.length(g.key), 0) not between 1 and 128
        or pg_catalog.length(g.wamid) > 512 or pg_catalog.length(g.phone_number_id) > 64
        or g.kind not in ('status', 'message', 'preference', 'template', 'account', 'quality',
          'other')
        as is_invalid, outbox.callback_time(e.item -> 'at', p_now) as at, e.item
    from pg_catalog.jsonb_array_elements(p_updates) as e (item)
    cross join lateral pg_catalog.jsonb_to_record(
      case when pg_catalog.jsonb_typeof(e.item) = 'object' then e.item else '{}' end
    ) as g (key text, kind text, field text, waba_id text, phone_number_id text, display text,
      wamid text, status text, callback_data text, wa_id text, user_id text, problem text,
      data jsonb)
    cross join lateral (select g.problem) x
  ), matched as (
    select g.*, c.endpoint_id, c.waba_id as of_waba,
      case
        when c.endpoint_id is not null then c.org_id
        when g.kind in ('template', 'account', 'quality') then p_org_id
      end as org_id,
      case
        when g.is_invalid then 'not_understood'
        when g.kind = 'other' then 'not_used'
        when g.kind in ('status', 'message', 'preference') then
          case
            when c.endpoint_id is null then 'unknown_number'
            when c.waba_id <> g.waba_id then 'wrong_account'
            when c.org_id <> p_org_id then 'org_mismatch'
          end
        else outbox.why_not_account(p_app_id, p_org_id, g.waba_id, g.kind)
      end as reason
    from updates g
    left join lateral (
      select n.* from (
        select o.endpoint_id, o.org_id, o.waba_id, null::timestamptz as deleted_at
        from outbox.whatsapp_channel o
        where o.phone_number_id = g.phone_number_id and o.app_id = p_app_id
        union all
        -- The messages of a deleted channel still get their statuses.
        select d.channel_id, d.org_id, d.waba_id, d.deleted_at from outbox.deleted_channel d
        where d.phone_number_id = g.phone_number_id and d.app_id = p_app_id and g.kind = 'status'
      ) n
      order by n.deleted_at desc nulls first limit 1
    ) c on g.kind in ('status', 'message', 'preference')
  ), inserted as (
    insert into outbox.whatsapp_update (app_id, key, kind, field, waba_id, phone_number_id, display,
      wamid, status, callback_data, wa_id, user_id, happened_at, data, received_at, org_id,
      channel_id, message_id, attempt_id, update_status, reason)
    select p_app_id,
      -- md5, so that the key of an invalid update fits into the index.
      case
        when m.is_invalid then 'unfit ' || pg_catalog.md5(m.item::text)
        when m.reason = 'org_mismatch'
        then pg_catalog.format('%s %s %s', m.reason, pg_catalog.md5(p_org_id), m.key)
        when m.reason is not null and m.reason <> 'not_used'
        then pg_catalog.format('%s %s', m.reason, m.key)
        else m.key
      end,
      case when m.is_invalid then 'other' else m.kind end,
      pg_catalog.left(m.field, 64), pg_catalog.left(m.waba_id, 64),
      pg_catalog.left(m.phone_number_id, 64), pg_catalog.left(m.display, 32),
      pg_catalog.left(m.wamid, 512), pg_catalog.left(m.status, 64),
      pg_catalog.left(m.callback_data, 512), pg_catalog.left(m.wa_id, 64),
      pg_catalog.left(m.user_id, 256), m.at, coalesce(m.data, '{}'), p_now,
      -- Store the caller's organisation only if it was confirmed.
      case when m.endpoint_id is not null or m.reason is null then m.org_id end,
      m.endpoint_id, a.message_id, a.id,
      case when m.reason is null then 'stored' else 'skipped' end, m.reason
    from matched m
    left join lateral outbox.find_attempt(m.org_id, m.phone_number_id, m.wamid, m.callback_data) a
      on m.kind = 'status' and m.reason is null
    -- One order, so that concurrent calls with the same updates do not deadlock.
    order by 2
    on conflict (app_id, key) do nothing
    returning id
  )
  select pg_catalog.array_agg(p.id order by p.id) into v_ids from inserted p;
  return coalesce(v_ids, '{}');
end
$$;
comment on function outbox.store_callbacks(text, text, jsonb, timestamptz) is
  'Stores the new updates of a callback and returns their ids. Their verdict is stored, or skipped '
  'if they can have no effect. locks: the keys of the updates, in order.';

create function outbox.callback_time(p_at jsonb, p_now timestamptz) returns timestamptz
language plpgsql immutable set search_path = ''
as $$
declare
  v_at timestamptz;
begin
  if pg_catalog.jsonb_typeof(p_at) = 'number' and p_at between '0' and '253402300799' then
    v_at := pg_catalog.to_timestamp((p_at #>> '{}')::double precision);
  end if;
  -- Meta repeats a callback for 7 days and delivers a message for up to 30.
  return case
    when v_at between p_now - interval '60 days' and p_now + interval '1 day' then v_at
    else p_now
  end;
end
$$;
comment on function outbox.callback_time(jsonb, timestamptz) is
  'Meta''s time of an update (Unix seconds); the time of arrival if it is missing, older than 60 '
  'days or more than a day in the future.';

create function outbox.why_not_account(
  p_app_id text, p_org_id text, p_waba_id text, p_kind text
) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select case
      when pg_catalog.count(*) = 0 then 'unknown_account'
      when pg_catalog.bool_and(c.org_id <> p_org_id) then 'org_mismatch'
      -- A held template is held for every organisation of the account.
      when p_kind = 'template' and pg_catalog.bool_or(c.org_id <> p_org_id) then 'org_mismatch'
    end
    from outbox.whatsapp_channel c where c.waba_id = p_waba_id and c.app_id = p_app_id);
end
$$;
comment on function outbox.why_not_account(text, text, text, text) is
  'Why an update about an account cannot be applied: unknown_account (no channel of the account '
  'has this app), org_mismatch (no channel belongs to the organisation that the caller gave, or a '
  'template is also that of another organisation); null if it can.';

create function outbox.find_attempt(
  p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text
) returns outbox.message_attempt
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_attempt outbox.message_attempt;
  v_parts text[];
begin
  select a.* into v_attempt from outbox.message_attempt a
  where a.phone_number_id = p_phone_number_id and a.wamid = p_wamid;
  if not found then
    v_parts := pg_catalog.regexp_match(p_callback_data, '^ob1:([0-9]{1,18}):([0-9]{1,9})$');
    select a.* into v_attempt from outbox.message_attempt a
    where a.message_id = v_parts[1]::bigint and a.attempt_no = v_parts[2]::integer
      and a.phone_number_id = p_phone_number_id;
  end if;
  -- The number may have belonged to another organisation.
  if found and exists (
    select from outbox.outbound_message m where m.id = v_attempt.message_id and m.org_id = p_org_id)
  then
    return v_attempt;
  end if;
  return null;
end
$$;
comment on function outbox.find_attempt(text, text, text, text) is
  'The attempt that a status is about, in this organisation: by WhatsApp''s id, or by the '
  'callback data of the attempt if no response has set that id yet.';

create function outbox.callback_result(p_ids bigint[], p_given integer) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select pg_catalog.jsonb_build_object(
      'stored', pg_catalog.cardinality(p_ids),
      'duplicates', p_given - pg_catalog.cardinality(p_ids),
      'applied', coalesce(pg_catalog.sum(s.n) filter (where s.update_status = 'applied'), 0),
      'skipped', coalesce(pg_catalog.sum(s.n) filter (where s.update_status = 'skipped'), 0),
      'kept', coalesce(pg_catalog.sum(s.n) filter (where s.update_status = 'kept'), 0),
      'warnings', coalesce(pg_catalog.jsonb_agg(
        pg_catalog.format('%s updates %s: %s', s.n, s.update_status, s.reason) order by s.reason)
        filter (where s.reason in ('not_understood', 'unknown_number', 'unknown_account',
          'wrong_account', 'org_mismatch', 'error', 'after_delivered', 'after_failed')), '[]'))
    from (
      select u.update_status, u.reason, pg_catalog.count(*) as n
      from pg_catalog.unnest(p_ids) i
      cross join lateral (
        select w.update_status, w.reason from outbox.whatsapp_update w where w.id = i offset 0
      ) u
      group by u.update_status, u.reason
    ) s);
end
$$;
comment on function outbox.callback_result(bigint[], integer) is
  'The result of receive_callbacks() for p_given updates, of which p_ids were new.';
