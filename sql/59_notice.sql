-- What WhatsApp says of templates, accounts and numbers. It speaks of an account, which may have
-- channels of several organisations: each of them hears of it. The contrary update lifts a hold.

create function outbox.apply_notices(p_ids bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_update outbox.whatsapp_update;
  v_reason text;
begin
  for v_update in
    select u.* from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind in ('template', 'account', 'quality') and u.state = 'stored'
    order by u.waba_id, u.kind, u.happened_at, u.id
  loop
    v_reason := outbox.take_notice(v_update, p_now);
    perform outbox.settle_updates(array[v_update.id],
      array[case when v_reason is null then 'applied' else 'skipped' end], array[v_reason], p_now);
  end loop;
end
$$;
comment on function outbox.apply_notices(bigint[], timestamptz) is
  'Applies what stored updates say of templates, accounts and numbers. locks: endpoints, of which '
  'none that somebody else holds is waited for: then it is tried again.';

create function outbox.take_notice(
  p_update outbox.whatsapp_update, p_now timestamptz
) returns text
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_rule outbox.notice_rule;
  v_why text;
  v_channels uuid[];
begin
  v_rule := outbox.notice_rule_of(p_update);
  if v_rule.action is null then
    return 'not_used';
  end if;
  v_why := pg_catalog.concat_ws(': ', v_rule.title, outbox.notice_reason(p_update.data));
  if v_rule.cause = 'template' and v_rule.action <> 'note' then
    return outbox.hold_template(p_update, v_rule, v_why, p_now);
  end if;
  v_channels := outbox.channels_of(p_update);
  perform outbox.put_news('outhook.whatsapp.notice', array(
    select pg_catalog.json_build_object('endpointId', c.endpoint_id, 'orgId', c.org_id,
      'field', p_update.field, 'event', v_rule.event, 'reason', v_why,
      'template', p_update.data ->> 'message_template_name')::text
    from outbox.whatsapp_channel c where c.endpoint_id = any (v_channels) order by c.endpoint_id),
    p_now);
  if v_rule.cause = 'quality' then
    update outbox.whatsapp_channel c set quality = pg_catalog.concat_ws(' ', v_rule.event,
      p_update.data ->> 'current_limit')
    where c.endpoint_id = any (v_channels);
  end if;
  if v_rule.action <> 'note' then
    perform outbox.hold_channel(c, v_rule.cause, v_rule.action = 'hold', v_why,
      p_update.happened_at, outbox.notice_end(p_update.data), p_now)
    from pg_catalog.unnest(v_channels) c;
  end if;
  return null;
end
$$;
comment on function outbox.take_notice(outbox.whatsapp_update, timestamptz) is
  'Applies one update of a template, account or number; returns why it does nothing, if so.';

create function outbox.notice_rule_of(p_update outbox.whatsapp_update) returns outbox.notice_rule
language plpgsql stable set search_path = ''
as $$
declare
  v_event text := p_update.status;
  v_kinds jsonb := p_update.data -> 'restriction_info';
  v_rule outbox.notice_rule;
begin
  -- These two say what they mean further down.
  if v_event = 'DISABLED_UPDATE' then
    v_event := p_update.data #>> '{ban_info,waba_ban_state}';
  elsif v_event = 'PAUSED' and p_update.data #>> '{other_info,title}' = 'UNPAUSE' then
    v_event := 'UNPAUSE';
  elsif v_event = 'ACCOUNT_RESTRICTION' and pg_catalog.jsonb_typeof(v_kinds) = 'array' then
    if v_kinds = '[]' then
      v_event := 'ACCOUNT_UNRESTRICTION';
    elsif not exists (
      select from pg_catalog.jsonb_array_elements(v_kinds) k
      where k ->> 'restriction_type' is distinct from 'RESTRICTED_ADD_PHONE_NUMBER_ACTION')
    then
      -- It may go on sending.
      return null;
    end if;
  end if;
  select * into v_rule from outbox.notice_rule r
  where r.field = p_update.field and r.event = v_event;
  return v_rule;
end
$$;
comment on function outbox.notice_rule_of(outbox.whatsapp_update) is
  'The rule for an update of a template, account or number; null when it has none.';

create function outbox.notice_reason(p_data jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return nullif(pg_catalog.left(pg_catalog.concat_ws(', ',
    nullif(p_data ->> 'reason', 'NONE'), p_data #>> '{other_info,title}',
    p_data #>> '{violation_info,violation_type}',
    case when pg_catalog.jsonb_typeof(p_data -> 'restriction_info') = 'array' then (
      select pg_catalog.string_agg(k ->> 'restriction_type', ', ')
      from pg_catalog.jsonb_array_elements(p_data -> 'restriction_info') k) end), 200), '');
end
$$;
comment on function outbox.notice_reason(jsonb) is
  'What WhatsApp gives as the reason, if anything.';

create function outbox.notice_end(p_data jsonb) returns timestamptz
language plpgsql immutable set search_path = ''
as $$
begin
  -- Of several restrictions the last to end; one without an end does not.
  if pg_catalog.jsonb_typeof(p_data -> 'restriction_info') = 'array' then
    return (
      select case when pg_catalog.count(*) = pg_catalog.count(s.at) then
        pg_catalog.to_timestamp(pg_catalog.max(s.at)) end
      from pg_catalog.jsonb_array_elements(p_data -> 'restriction_info') k
      cross join lateral (
        select case
          when k ->> 'expiration' ~ '^[0-9]{1,11}$' then (k ->> 'expiration')::double precision
        end as at
      ) s);
  end if;
  return null;
end
$$;
comment on function outbox.notice_end(jsonb) is
  'When restrictions end by themselves; null when they do not.';

create function outbox.channels_of(p_update outbox.whatsapp_update) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_ids uuid[];
begin
  -- An update of a number names it as people read it. Until a callback of that number has come,
  -- any of the account's may be meant.
  if p_update.kind = 'quality' and p_update.display is not null then
    v_ids := array(
      select c.endpoint_id from outbox.whatsapp_channel c
      where c.waba_id = p_update.waba_id and c.app_id = p_update.app_id
        and c.display_digits = p_update.display
        and (p_update.org_id is null or c.org_id = p_update.org_id));
  end if;
  if coalesce(pg_catalog.cardinality(v_ids), 0) = 0 then
    v_ids := array(
      select c.endpoint_id from outbox.whatsapp_channel c
      where c.waba_id = p_update.waba_id and c.app_id = p_update.app_id
        and (p_update.org_id is null or c.org_id = p_update.org_id)
        and (p_update.kind <> 'quality' or c.display_digits is null or p_update.display is null)
      order by c.endpoint_id);
  end if;
  return v_ids;
end
$$;
comment on function outbox.channels_of(outbox.whatsapp_update) is
  'The channels that an update of an account, or of one of its numbers, concerns: of the app that '
  'signed it alone.';

create function outbox.hold_channel(
  p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamptz,
  p_expires_at timestamptz, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
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
  if p_held and v_endpoint.state = 'enabled' and coalesce(p_expires_at > p_now, true) then
    perform outbox.set_endpoint_state(p_channel_id, 'paused', 'held: ' || p_why);
    perform outbox.announce('outhook.channel.held', array[p_channel_id], p_now);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'HELD',
      'held: ' || p_why, null, p_now);
  elsif not p_held and v_endpoint.state = 'paused' and v_endpoint.state_reason like 'held:%'
    and not exists (
      select from outbox.channel_hold h where h.channel_id = p_channel_id and h.held)
  then
    perform outbox.set_endpoint_state(p_channel_id, 'enabled', null);
    perform outbox.announce('outhook.channel.resumed', array[p_channel_id], p_now);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'RESUMED', p_why, null,
      p_now);
  end if;
end
$$;
comment on function outbox.hold_channel(
  uuid, text, boolean, text, timestamptz, timestamptz, timestamptz) is
  'Holds a channel for a cause, or lifts that cause, unless a later word has been spoken; the last '
  'cause lifted resumes it, unless a person paused it. locks: the endpoint, without waiting.';

create function outbox.cause_of(p_code text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- These two speak of the account, and an update that it is reinstated lifts them.
  return case when p_code in ('131031', '368') then 'account' else 'failure' end;
end
$$;
comment on function outbox.cause_of(text) is
  'The cause of a hold that a code of WhatsApp''s makes.';

create function outbox.lift_expired_holds(p_now timestamptz) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
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
    perform outbox.hold_channel(v_hold.channel_id, v_hold.cause, false, 'its time is over',
      greatest(v_hold.expires_at, v_hold.decided_at + interval '1 us'), null, p_now);
    v_lifted := v_lifted + 1;
  end loop;
  return v_lifted;
end
$$;
comment on function outbox.lift_expired_holds(timestamptz) is
  'Lifts holds whose end WhatsApp had announced; returns how many.';

create function outbox.hold_template(
  p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamptz
) returns text
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_name text := pg_catalog.left(p_update.data ->> 'message_template_name', 512);
  -- Meta writes en_US and en-US.
  v_language text := pg_catalog.left(pg_catalog.replace(
    p_update.data ->> 'message_template_language', '-', '_'), 16);
  v_was boolean;
begin
  if v_name is null or v_language is null then
    return 'not_understood';
  end if;
  select h.held into v_was from outbox.template_hold h
  where h.app_id = p_update.app_id and h.waba_id = p_update.waba_id and h.name = v_name
    and h.language = v_language for update;
  insert into outbox.template_hold as h (
    app_id, waba_id, name, language, held, why, decided_at)
  values (p_update.app_id, p_update.waba_id, v_name, v_language, p_rule.action = 'hold', p_why,
    p_update.happened_at)
  on conflict (app_id, waba_id, name, language) do update set
    held = excluded.held, why = excluded.why, decided_at = excluded.decided_at
  where excluded.decided_at > h.decided_at
    or (excluded.decided_at = h.decided_at and excluded.held and not h.held);
  if not found then
    return 'behind';
  elsif coalesce(v_was, false) = (p_rule.action = 'hold') then
    return null;
  end if;
  perform outbox.put_news(
    case p_rule.action
      when 'hold' then 'outhook.template.held' else 'outhook.template.resumed'
    end,
    array(
      select pg_catalog.json_build_object('orgId', t.org_id, 'templateCode', t.code,
        'name', t.name, 'language', t.language, 'reason', p_why)::text
      from outbox.templates_of(p_update.app_id, p_update.waba_id, v_name, v_language) t),
    p_now);
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  select t.org_id, 'TEMPLATE', t.code,
    case p_rule.action when 'hold' then 'HELD' else 'RESUMED' end, p_why, null, p_now
  from outbox.templates_of(p_update.app_id, p_update.waba_id, v_name, v_language) t;
  return null;
end
$$;
comment on function outbox.hold_template(
  outbox.whatsapp_update, outbox.notice_rule, text, timestamptz) is
  'Holds a template of an account or lifts that, unless a later word has been spoken; returns why '
  'it does nothing, if so.';

create function outbox.templates_of(
  p_app_id text, p_waba_id text, p_name text, p_language text
) returns setof outbox.template
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select distinct t.* from outbox.whatsapp_channel c
  join outbox.template t on t.org_id = c.org_id
  where c.app_id = p_app_id and c.waba_id = p_waba_id and t.name = p_name
    and t.language = p_language
  order by 1, 2;
end
$$;
comment on function outbox.templates_of(text, text, text, text) is
  'The codes that organisations of an account have for a template.';
