-- Checks whether a message may be sent: opt-outs, consent, the 24-hour window, templates. They run
-- when a message is created and again when it is claimed, because any of these may change while it
-- waits.

create type outbox.sending_check as (refusal text, lane_keys text[]);
comment on type outbox.sending_check is
  'Why a message must not be sent now, or null; and the lane keys of its recipient, if the person '
  'is known.';

create function outbox.check_sending(
  p_message outbox.outbound_message, p_now timestamptz
) returns outbox.sending_check
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_purpose text := case when p_message.category = 'MARKETING' then 'MARKETING' else 'UTILITY' end;
  v_people bigint[];
  v_check outbox.sending_check;
  -- WhatsApp's clock may differ from ours, so the window closes 5 minutes early.
  v_margin constant interval := interval '5 minutes';
begin
  -- The function is stable, so all its queries see one snapshot: either before or after a join.
  select pg_catalog.array_agg(distinct i.person_id) into v_people
  from (
    select v.value from pg_catalog.unnest(array[outbox.identifier_of(p_message.to_recipient),
      outbox.identifier_of(p_message.wa_id), '#' || p_message.recipient_hash]) as v (value)
    where v.value is not null
  ) v
  cross join lateral (
    select x.person_id from outbox.person_identifier x
    where x.org_id = p_message.org_id and x.value = v.value offset 0
  ) i;
  v_check.lane_keys := (
    select nullif(p.lane_keys, '{}') from outbox.person p where p.id = v_people[1]);
  v_check.refusal := case
    when exists (
      select from outbox.opt_out o
      where o.org_id = p_message.org_id and o.channel = p_message.channel
        and o.person_id = any (v_people) and o.purpose in ('ALL', v_purpose) and not o.lifted)
    then 'opted_out'
    when p_message.dossier_id is not null and (
      select c.granted from outbox.consent c
      where c.org_id = p_message.org_id and c.dossier_id = p_message.dossier_id
        and c.channel = p_message.channel and c.purpose = v_purpose
      order by c.id desc limit 1) is not true
    then 'consent_required'
    when p_message.template_code is null and (
      select k.has_window from outbox.channel_kind k where k.channel = p_message.channel)
      and not exists (
        select from outbox.conversation_window w
        where w.channel_id = p_message.channel_id and w.person_id = any (v_people)
          and w.expires_at > p_now + v_margin)
    then 'outside_window'
    when p_message.template_code is not null and not exists (
      select from outbox.template t
      where t.org_id = p_message.org_id and t.code = p_message.template_code)
    then 'template_missing'
  end;
  return v_check;
end
$$;
comment on function outbox.check_sending(outbox.outbound_message, timestamptz) is
  'Why a message must not be sent now: opted_out, consent_required, outside_window (no template, '
  'and the recipient has not written for 24 hours) or template_missing; null if it may be sent. '
  'The opt-outs are those of the person. Looks the person up once, by the number, wa_id and hash.';

create function outbox.refusal_text(p_code text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case p_code
    when 'opted_out' then 'Recipient opted out'
    when 'consent_required' then 'Consent required'
    when 'consent_revoked' then 'Consent required'
    when 'outside_window' then
      'More than 24 hours since the recipient last wrote: only a template may be sent'
    when 'template_missing' then 'The template does not exist any more'
  end;
end
$$;
comment on function outbox.refusal_text(text) is
  'The text of a refusal for the audit trail.';

create function outbox.audit_refusal(
  p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.audit(p_message.org_id,
    case when p_message.dossier_id is null then 'CHANNEL' else 'DOSSIER' end,
    coalesce(p_message.dossier_id, p_message.channel_id::text),
    'BLOCKED_BY_POLICY', outbox.refusal_text(p_code), p_actor, p_now, p_message.correlation_id);
  perform outbox.count_up('messages_blocked', array[p_code]);
end
$$;
comment on function outbox.audit_refusal(outbox.outbound_message, text, text, timestamptz) is
  'Records in the audit trail that a message was blocked, and counts it.';
