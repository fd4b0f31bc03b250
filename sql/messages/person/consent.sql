-- Consent of a dossier (the application's record of a recipient) for a channel and a purpose:
-- MARKETING, or UTILITY for everything else. Rows are only added and the last one counts, so the
-- consent at any time can be shown. An opt-out (messages/person/opt_out) overrides consent.

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
  'Consent that was granted or revoked: source is how (a form, a call), evidence where the proof '
  'is, actor who recorded it. Rows are only added; the last row of a purpose counts.';
create index consent_dossier on outbox.consent (org_id, dossier_id, channel, purpose, id);

create function outbox.check_dossier(p_dossier_id text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_dossier_id is null or p_dossier_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('dossierId', 'is not 1 to 128 visible ASCII characters',
      'Use the id of your record, not a name or a phone number');
  end if;
end
$$;
comment on function outbox.check_dossier(text) is
  'Raises OH001 unless this is a valid dossier id.';

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
  perform outbox.check_user_org(p_org_id);
  perform outbox.check_dossier(p_dossier_id);
  perform outbox.check_choice('channel', p_channel, outbox.channel_names());
  if coalesce(pg_catalog.cardinality(p_purposes), 0) = 0 then
    perform outbox.invalid('purposes', 'is empty', 'Expected MARKETING, UTILITY or both');
  end if;
  if p_source is null or pg_catalog.length(p_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Give the way it was granted or revoked, such as web form or phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Give the place of the evidence, such as a document id');
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
  'Records that consent was granted or revoked. Returns the result of list_consents(). OH001.';

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
  'Records that the recipient of a dossier agrees to messages of these purposes (MARKETING, '
  'UTILITY): how (p_source), the evidence, and who recorded it. Returns the result of '
  'list_consents(). OH001.';

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
  'Revokes consent: waiting messages fail at their next attempt without being sent. Returns the '
  'result of list_consents(). OH001.';

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
  'The result of list_consents().';

create function outbox.list_consents(p_org_id text, p_dossier_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.consents_json(p_org_id, p_dossier_id);
end
$$;
comment on function outbox.list_consents(text, text) is
  'All changes of the consent of a dossier, newest first, at most 1000: {"data": [{"dossierId", '
  '"channel", "purpose", "granted", "source", "evidence", "actor", "at", "inForce": it is the '
  'last change of its channel and purpose}]}.';
