-- Holds of a template, by the WhatsApp account and Meta's name and language. Its messages stay
-- queued until the template may be sent again.

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
  v_was_held boolean;
begin
  if v_name is null or v_language is null then
    return 'not_understood';
  end if;
  -- Insert first, so that a concurrent update about a new template waits for this decision.
  insert into outbox.template_hold (app_id, waba_id, name, language, held, why, decided_at)
  values (p_update.app_id, p_update.waba_id, v_name, v_language, false, '', '-infinity')
  on conflict do nothing;
  select h.held into v_was_held from outbox.template_hold h
  where h.app_id = p_update.app_id and h.waba_id = p_update.waba_id and h.name = v_name
    and h.language = v_language for update;
  update outbox.template_hold h
  set held = p_rule.action = 'hold', why = p_why, decided_at = p_update.happened_at
  where h.app_id = p_update.app_id and h.waba_id = p_update.waba_id and h.name = v_name
    and h.language = v_language
    and (p_update.happened_at > h.decided_at
      or (p_update.happened_at = h.decided_at and p_rule.action = 'hold' and not h.held));
  if not found then
    return 'behind';
  elsif v_was_held = (p_rule.action = 'hold') then
    return null;
  end if;
  perform outbox.put_news(
    case p_rule.action
      when 'hold' then 'outhook.template.held' else 'outhook.template.resumed'
    end,
    array(
      select pg_catalog.json_build_object('orgId', t.org_id, 'templateCode', t.code,
        'name', t.name, 'language', t.language, 'reason', p_why)::text
      from outbox.templates_of(p_update.app_id, p_update.waba_id, v_name, v_language) t));
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
  'Holds a template of an account or lifts its hold, unless a later update has been applied. '
  'Returns the reason if nothing changes.';

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
  'The templates of all organisations of an account with Meta''s name and language.';
