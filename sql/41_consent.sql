-- Consent. It belongs to a dossier (the application's record of a person), a channel and a purpose:
-- MARKETING, or UTILITY for everything else. Rows are only added, and the last one counts, so that
-- what was known at any time can be shown. An opt-out belongs to a number and stands above it.

create table outbox.consent (
  id bigint generated always as identity primary key,
  org_id text not null,
  dossier_id text not null,
  channel text not null,
  purpose text not null
    constraint consent_purpose_is_known check (purpose in ('MARKETING', 'UTILITY')),
  granted boolean not null,
  source text not null,
  evidence text,
  actor text,
  created_at timestamptz not null
);
comment on table outbox.consent is
  'Who agreed to what, and took it back: source is how (a form, a call), evidence where it can be '
  'found, actor who wrote it down. Append-only; the last row of a purpose counts.';
create index consent_dossier on outbox.consent (org_id, dossier_id, channel, purpose, id);

create table outbox.opt_out (
  org_id text not null,
  channel text not null,
  recipient text not null,
  purpose text not null
    constraint opt_out_purpose_is_known check (purpose in ('MARKETING', 'ALL')),
  source text not null,
  evidence text,
  lifted boolean not null default false,
  decided_at timestamptz not null,
  created_at timestamptz not null,
  primary key (org_id, channel, recipient, purpose)
);
comment on table outbox.opt_out is
  'Numbers that want nothing more of an org: no marketing, or nothing at all; the last word of '
  'each, with where it can be found (evidence). lifted: they want it again. recipient is E.164 '
  'with its +, or WhatsApp''s id of a person who hides theirs.';

create function outbox.change_consent(
  p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text,
  p_source text, p_evidence text, p_actor text
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_purpose text;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_dossier(p_dossier_id);
  perform outbox.check_choice('channel', p_channel, array['WHATSAPP']);
  if coalesce(pg_catalog.cardinality(p_purposes), 0) = 0 then
    perform outbox.invalid('purposes', 'is empty', 'Expected MARKETING, UTILITY or both');
  end if;
  if p_source is null or pg_catalog.length(p_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Say how consent was given or taken back, such as web form or phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Say where the evidence can be found');
  end if;
  foreach v_purpose in array p_purposes loop
    perform outbox.check_choice('purposes', v_purpose, array['MARKETING', 'UTILITY']);
  end loop;
  insert into outbox.consent (
    org_id, dossier_id, channel, purpose, granted, source, evidence, actor, created_at)
  select p_org_id, p_dossier_id, p_channel, p.purpose, p_granted, p_source, p_evidence, p_actor,
    v_now
  from (select distinct pg_catalog.unnest(p_purposes) as purpose) p;
  perform outbox.audit(p_org_id, 'DOSSIER', p_dossier_id,
    case when p_granted then 'CONSENT_GRANTED' else 'CONSENT_REVOKED' end,
    pg_catalog.format('%s: %s', p_channel, pg_catalog.array_to_string(p_purposes, ', ')), p_actor,
    v_now);
  return outbox.consents_json(p_org_id, p_dossier_id);
end
$$;
comment on function outbox.change_consent(
  text, text, text[], boolean, text, text, text, text) is
  'Writes down that consent was given or taken back. OH001.';

create function outbox.grant_consent(
  p_org_id text, p_dossier_id text, p_purposes text[], p_source text,
  p_evidence text default null, p_actor text default null, p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.change_consent(p_org_id, p_dossier_id, p_purposes, true, p_channel, p_source,
    p_evidence, p_actor);
end
$$;
comment on function outbox.grant_consent(text, text, text[], text, text, text, text) is
  'Notes that the person of a dossier agrees to be sent messages of these purposes (MARKETING, '
  'UTILITY): how (source), with what evidence, written down by whom. Returns what list_consents() '
  'does. OH001.';

create function outbox.revoke_consent(
  p_org_id text, p_dossier_id text, p_purposes text[], p_source text,
  p_evidence text default null, p_actor text default null, p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.change_consent(p_org_id, p_dossier_id, p_purposes, false, p_channel, p_source,
    p_evidence, p_actor);
end
$$;
comment on function outbox.revoke_consent(text, text, text[], text, text, text, text) is
  'Takes consent back: what waits to be sent fails at its next try, unsent. Returns what '
  'list_consents() does. OH001.';

create function outbox.consents_json(p_org_id text, p_dossier_id text) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'dossierId', c.dossier_id, 'channel', c.channel, 'purpose', c.purpose,
        'granted', c.granted, 'source', c.source, 'evidence', c.evidence, 'actor', c.actor,
        'at', outbox.iso_time(c.created_at), 'inForce', c.n = 1)
      order by c.id desc)
    from (
      select x.*, pg_catalog.row_number() over (
        partition by x.channel, x.purpose order by x.id desc) as n
      from outbox.consent x
      where x.org_id = p_org_id and x.dossier_id = p_dossier_id
      order by x.id desc limit 1000
    ) c), '[]'));
end
$$;
comment on function outbox.consents_json(text, text) is
  'What list_consents() returns.';

create function outbox.list_consents(p_org_id text, p_dossier_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.consents_json(p_org_id, p_dossier_id);
end
$$;
comment on function outbox.list_consents(text, text) is
  'Each change of a dossier''s consent, newest first: {"data": [{"dossierId", "channel", '
  '"purpose", "granted", "source", "evidence", "actor", "at", "inForce": it is the last word}]}.';

create function outbox.check_dossier(p_dossier_id text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_dossier_id is null or p_dossier_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('dossierId', 'is not 1 to 128 visible ASCII characters',
      'Use the id of your record, not a name or a number of the person');
  end if;
end
$$;
comment on function outbox.check_dossier(text) is
  'Raises OH001 unless this may be a dossier''s id.';

create function outbox.check_recipient(p_to text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_to is null or p_to !~ '^\+[1-9][0-9]{6,14}$' then
    -- Not shown: it may be somebody's number.
    perform outbox.invalid('to', 'is not a number in E.164 form',
      'Expected + and 7 to 15 digits, the country''s code first, such as +12025550111');
  end if;
end
$$;
comment on function outbox.check_recipient(text) is
  'Raises OH001 unless this may be a person''s number.';

create function outbox.opt_out_recipient(
  p_org_id text, p_recipient text, p_source text, p_purpose text default 'ALL',
  p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_recipient(p_recipient);
  perform outbox.check_choice('purpose', p_purpose, array['MARKETING', 'ALL']);
  perform outbox.check_choice('channel', p_channel, array['WHATSAPP']);
  insert into outbox.opt_out as o (
    org_id, channel, recipient, purpose, source, decided_at, created_at)
  values (p_org_id, p_channel, p_recipient, p_purpose, coalesce(p_source, 'by hand'), v_now, v_now)
  on conflict (org_id, channel, recipient, purpose) do update set
    source = excluded.source, evidence = null, lifted = false, decided_at = excluded.decided_at
  where o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', true, 'purpose', p_purpose, 'isNew', found);
end
$$;
comment on function outbox.opt_out_recipient(text, text, text, text, text) is
  'Sends a number nothing more, or no marketing: {"optedOut", "purpose", "isNew"}. OH001.';

create function outbox.opt_in_recipient(
  p_org_id text, p_recipient text, p_purpose text default 'ALL', p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.check_recipient(p_recipient);
  -- Kept as lifted: a callback that comes late must not bring it back.
  update outbox.opt_out o set lifted = true, decided_at = outbox.clock()
  where o.org_id = p_org_id and o.channel = p_channel
    and o.recipient = any (outbox.spellings(p_recipient)) and o.purpose = p_purpose
    and not o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', false, 'purpose', p_purpose, 'isNew', found);
end
$$;
comment on function outbox.opt_in_recipient(text, text, text, text) is
  'Takes an opt-out back: {"optedOut", "purpose", "isNew": there was one}. OH001.';

create function outbox.refusal_of(
  p_message outbox.outbound_message, p_now timestamptz
) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_purpose text := case when p_message.category = 'MARKETING' then 'MARKETING' else 'UTILITY' end;
  v_numbers text[] := outbox.spellings(p_message.to_recipient);
  -- WhatsApp's clock is not ours: what is about to close counts as closed.
  v_margin constant interval := interval '5 minutes';
begin
  return case
    when exists (
      select from outbox.opt_out o
      where o.org_id = p_message.org_id and o.channel = p_message.channel
        and o.recipient = any (v_numbers || ('+' || p_message.wa_id))
        and o.purpose in ('ALL', v_purpose) and not o.lifted)
    then 'opted_out'
    when p_message.dossier_id is not null and (
      select c.granted from outbox.consent c
      where c.org_id = p_message.org_id and c.dossier_id = p_message.dossier_id
        and c.channel = p_message.channel and c.purpose = v_purpose
      order by c.id desc limit 1) is not true
    then 'consent_required'
    when p_message.template_code is null and not exists (
      select from outbox.conversation_window w
      where w.channel_id = p_message.channel_id and w.recipient = any (v_numbers)
        and w.expires_at > p_now + v_margin)
    then 'outside_window'
    when p_message.template_code is not null and not exists (
      select from outbox.template t
      where t.org_id = p_message.org_id and t.code = p_message.template_code)
    then 'template_missing'
  end;
end
$$;
comment on function outbox.refusal_of(outbox.outbound_message, timestamptz) is
  'Why a message must not be sent now: opted_out, consent_required, outside_window (no template, '
  'and the person has not written for 24 hours), template_missing; null when it may be.';

create function outbox.refusal_words(p_code text) returns text
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
comment on function outbox.refusal_words(text) is
  'A refusal as the audit trail words it.';

create function outbox.audit_refusal(
  p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.audit(p_message.org_id,
    case when p_message.dossier_id is null then 'CHANNEL' else 'DOSSIER' end,
    coalesce(p_message.dossier_id, p_message.channel_id::text),
    'BLOCKED_BY_POLICY', outbox.refusal_words(p_code), p_actor, p_now);
  perform outbox.count_up('messages_blocked', array[p_code]);
end
$$;
comment on function outbox.audit_refusal(outbox.outbound_message, text, text, timestamptz) is
  'Writes into the audit trail that a message was blocked.';
