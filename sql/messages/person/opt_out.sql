-- Opt-outs: numbers that want no marketing of an organisation, or nothing at all. An opt-out
-- belongs to a number, not to a dossier, so it also stops messages that name none.

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
    and o.recipient = any (outbox.number_variants(p_recipient)) and o.purpose = p_purpose
    and not o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', false, 'purpose', p_purpose, 'isNew', found);
end
$$;
comment on function outbox.opt_in_recipient(text, text, text, text) is
  'Takes an opt-out back: {"optedOut", "purpose", "isNew": there was one}. OH001.';
