-- Opt-outs: people who must not get marketing messages of an organisation, or any message. An
-- opt-out belongs to a person and not to a dossier, so it also stops messages without a dossier,
-- and it applies to every number of the person.

create table outbox.opt_out (
  org_id text not null,
  channel text not null,
  person_id bigint not null,
  purpose text not null
    constraint opt_out_purpose_is_known check (purpose in ('MARKETING', 'ALL')),
  source text not null,
  evidence text,
  wamid text,
  words text,
  lifted boolean not null default false,
  said_at timestamptz not null,
  decided_at timestamptz not null,
  created_at timestamptz not null,
  said_by text,
  primary key (org_id, channel, person_id, purpose)
);
comment on table outbox.opt_out is
  'People who must not get MARKETING messages of an organisation, or no messages at all (ALL): the '
  'last decision and its evidence: said_at, wamid and words of what the person sent or WhatsApp '
  'reported, or evidence as somebody noted it. lifted: messages are allowed again. decided_at: '
  'earlier decisions that come later change nothing. said_by: the keyed hash of the user id that '
  'asked for it; null if it is not known, or if several did. When the person is erased, wamid '
  'becomes a keyed hash, because it contains the number.';
create index opt_out_person on outbox.opt_out (person_id);

create type outbox.opt_out_change as (
  org_id text,
  recipient text,
  purpose text,
  lifted boolean,
  at timestamptz,
  source text,
  wamid text,
  words text,
  entity_type text,
  entity_id text
);
comment on type outbox.opt_out_change is
  'A request of a recipient (identifier_of()) to get no messages of a purpose, or to get them '
  'again (lifted), with its time, source and evidence, and the entity of its audit row; without '
  'one it is the person.';

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

create function outbox.check_identifier(p_recipient text) returns text
language plpgsql immutable set search_path = ''
as $$
declare
  v_identifier text := outbox.identifier_of(p_recipient);
begin
  if v_identifier is null then
    perform outbox.invalid('recipient', 'is not a number, a wa_id or a user id of WhatsApp',
      'Expected a number such as +12025550111, its digits, or an id such as US.1349120865530274');
  end if;
  return v_identifier;
end
$$;
comment on function outbox.check_identifier(text) is
  'identifier_of() a recipient. OH001: it is none.';

create function outbox.opt_out_recipient(
  p_org_id text, p_recipient text, p_source text, p_purpose text default 'ALL',
  p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.change_opt_out(p_org_id, p_recipient, p_purpose, true,
    coalesce(p_source, 'by hand'), p_channel => p_channel);
end
$$;
comment on function outbox.opt_out_recipient(text, text, text, text, text) is
  'Stops marketing messages (MARKETING), or all messages (ALL), to a person: {"optedOut", '
  '"purpose", "isNew"}. p_recipient: a number, a wa_id or a user id of WhatsApp. OH001.';

create function outbox.opt_in_recipient(
  p_org_id text, p_recipient text, p_purpose text default 'ALL', p_channel text default 'WHATSAPP'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.change_opt_out(p_org_id, p_recipient, p_purpose, false, 'by hand',
    p_channel => p_channel);
end
$$;
comment on function outbox.opt_in_recipient(text, text, text, text) is
  'Lifts an opt-out: {"optedOut", "purpose", "isNew": there was one}. p_recipient: a number, a '
  'wa_id or a user id of WhatsApp. OH001.';
