-- Notices of WhatsApp about templates, accounts and numbers. A notice is about an account, and
-- applies to the channels of all organisations in that account. The opposite notice lifts a hold
-- (messages/channel/hold_channel, messages/message/hold_template).

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
    where u.kind in ('template', 'account', 'quality') and u.update_status = 'stored'
    order by u.waba_id, u.kind, u.happened_at, u.id
  loop
    v_reason := outbox.apply_notice(v_update, p_now);
    perform outbox.save_verdicts(array[v_update.id],
      array[case when v_reason is null then 'applied' else 'skipped' end], array[v_reason], p_now);
  end loop;
end
$$;
comment on function outbox.apply_notices(bigint[], timestamptz) is
  'Applies stored updates about templates, accounts and numbers. locks: endpoints, without '
  'waiting: if one is locked, the update is tried again.';

create function outbox.apply_notice(
  p_update outbox.whatsapp_update, p_now timestamptz
) returns text
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_rule outbox.notice_rule;
  v_text text;
  v_channels uuid[];
begin
  v_rule := outbox.notice_rule_of(p_update);
  if v_rule.action is null then
    return 'not_used';
  end if;
  v_text := pg_catalog.concat_ws(': ', v_rule.title, outbox.notice_reason(p_update.data));
  if v_rule.cause = 'template' and v_rule.action <> 'note' then
    return outbox.hold_template(p_update, v_rule, v_text, p_now);
  end if;
  v_channels := outbox.channels_of(p_update);
  perform outbox.put_news('outhook.whatsapp.notice', array(
    select pg_catalog.json_build_object('endpointId', c.endpoint_id, 'orgId', c.org_id,
      'field', p_update.field, 'event', v_rule.event, 'reason', v_text,
      'template', p_update.data ->> 'message_template_name')::text
    from outbox.whatsapp_channel c where c.endpoint_id = any (v_channels) order by c.endpoint_id));
  if v_rule.cause = 'quality' then
    update outbox.whatsapp_channel c set quality = pg_catalog.concat_ws(' ', v_rule.event,
      p_update.data ->> 'current_limit')
    where c.endpoint_id = any (v_channels);
  end if;
  if v_rule.action <> 'note' then
    perform outbox.hold_channel(c, v_rule.cause, v_rule.action = 'hold', v_text,
      p_update.happened_at, outbox.notice_end(p_update.data), p_now)
    from pg_catalog.unnest(v_channels) c;
  end if;
  return null;
end
$$;
comment on function outbox.apply_notice(outbox.whatsapp_update, timestamptz) is
  'Applies one update about a template, an account or a number; returns the reason if nothing '
  'changes.';

create function outbox.notice_rule_of(p_update outbox.whatsapp_update) returns outbox.notice_rule
language plpgsql stable set search_path = ''
as $$
declare
  v_event text := p_update.status;
  v_kinds jsonb := p_update.data -> 'restriction_info';
  v_rule outbox.notice_rule;
begin
  -- These three events have their actual meaning in other members.
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
      -- Sending is not restricted.
      return null;
    end if;
  end if;
  select * into v_rule from outbox.notice_rule r
  where r.field = p_update.field and r.event = v_event;
  return v_rule;
end
$$;
comment on function outbox.notice_rule_of(outbox.whatsapp_update) is
  'The rule for an update about a template, an account or a number; null if there is none.';

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
  'The reason that WhatsApp gives, or null.';

create function outbox.notice_end(p_data jsonb) returns timestamptz
language plpgsql immutable set search_path = ''
as $$
begin
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
  'The time at which the last restriction ends automatically; null if a restriction has no end.';

create function outbox.channels_of(p_update outbox.whatsapp_update) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_ids uuid[];
begin
  -- An update of a number contains only its display form. Until a callback has stored that form for
  -- a channel, the update applies to any such channel of the account.
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
  'The channels of an account, or of one of its numbers, that an update applies to: only those of '
  'the app that signed it.';
