-- Opt-outs: numbers that must not get marketing messages of an organisation, or any message. An
-- opt-out belongs to a number and not to a dossier, so it also stops messages without a dossier.

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
  'Numbers that must not get MARKETING messages of an organisation, or no messages at all (ALL): '
  'the last decision, its source and evidence. lifted: messages are allowed again. recipient is '
  'E.164 with +, or WhatsApp''s id of a user who hides the number.';

create function outbox.check_recipient(p_to text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_to is null or p_to !~ '^\+[1-9][0-9]{6,14}$' then
    -- The error does not show the value, because it may be a real number.
    perform outbox.invalid('to', 'is not a number in E.164 form',
      'Expected + and 7 to 15 digits with the country code first, such as +12025550111');
  end if;
end
$$;
comment on function outbox.check_recipient(text) is
  'Raises OH001 unless this is a phone number in E.164 form.';

create function outbox.opt_out_recipient(
  p_org_id text, p_recipient text, p_source text, p_purpose text default 'ALL',
  p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_user_org(p_org_id);
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
  'Stops marketing messages (MARKETING), or all messages (ALL), to a number: {"optedOut", '
  '"purpose", "isNew"}. OH001.';

create function outbox.opt_in_recipient(
  p_org_id text, p_recipient text, p_purpose text default 'ALL', p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.check_recipient(p_recipient);
  -- The row stays, so that a late callback does not restore the opt-out.
  update outbox.opt_out o set lifted = true, decided_at = outbox.clock()
  where o.org_id = p_org_id and o.channel = p_channel
    and o.recipient = any (outbox.number_variants(p_recipient)) and o.purpose = p_purpose
    and not o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', false, 'purpose', p_purpose, 'isNew', found);
end
$$;
comment on function outbox.opt_in_recipient(text, text, text, text) is
  'Lifts an opt-out: {"optedOut", "purpose", "isNew": there was one}. OH001.';
