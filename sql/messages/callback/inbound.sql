-- What people write. A person is a contact of an organisation, known by a number (wa_id) or by the
-- id that WhatsApp gives who hides theirs (user_id), or by both once a message brings both. Whether
-- they want to hear more stands in opt_out (41); the words by which they say so stand here.

create table outbox.whatsapp_contact (
  id uuid primary key default pg_catalog.gen_random_uuid(),
  org_id text not null,
  wa_id text,
  user_id text,
  parent_user_id text,
  name text,
  username text,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint whatsapp_contact_has_an_id check (wa_id is not null or user_id is not null)
);
comment on table outbox.whatsapp_contact is
  'Who has written to an organisation. Forgotten message.retention_days after they last did.';
create unique index whatsapp_contact_wa_id on outbox.whatsapp_contact (org_id, wa_id)
  where wa_id is not null;
create unique index whatsapp_contact_user_id on outbox.whatsapp_contact (org_id, user_id)
  where user_id is not null;
create index whatsapp_contact_age on outbox.whatsapp_contact (last_seen_at);

create table outbox.inbound_message (
  id bigint generated always as identity primary key,
  org_id text not null,
  channel_id uuid not null,
  phone_number_id text not null,
  wamid text,
  contact_id uuid,
  type text not null,
  text text,
  reply_to bigint,
  payload jsonb not null,
  sent_at timestamptz not null,
  received_at timestamptz not null,
  erased_at timestamptz,
  constraint inbound_message_once unique (phone_number_id, wamid)
);
comment on table outbox.inbound_message is
  'Messages from people, each once. type is WhatsApp''s, text what a person reads of it, reply_to '
  'the message of ours that it answers, payload the rest as it came; erased_at: text, payload and '
  'ids are gone, message.retention_days after it came.';
create index inbound_message_org on outbox.inbound_message (org_id, id);
create index inbound_message_contact on outbox.inbound_message (contact_id, id);
create index inbound_message_kept on outbox.inbound_message (received_at)
  where erased_at is null;

create table outbox.reply_word (
  org_id text not null default '*',
  language text not null
    constraint reply_word_language_is_a_code check (language ~ '^[a-z]{2,3}$'),
  word text not null,
  action text not null
    constraint reply_word_action_is_known check (action in ('STOP', 'START', 'NONE')),
  primary key (org_id, language, word)
);
comment on table outbox.reply_word is
  'What, as a whole message or the payload of a button, means that a person wants no more messages '
  '(STOP) or wants them again (START), as plain_word() writes it. Org * is for all; an org''s own '
  'row for a word stands above it, and NONE takes it out.';
create index reply_word_word on outbox.reply_word (word, org_id);

create function outbox.plain_word(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- Nothing longer is one of these words: a sentence that holds one is for a person to read.
  if pg_catalog.length(p_text) > 100 then
    return null;
  end if;
  return nullif(pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
      pg_catalog.lower(pg_catalog.regexp_replace(
        pg_catalog.normalize(p_text, 'NFKD'), '[\u0300-\u036f]', '', 'g')),
      '\s+', ' ', 'g'),
    '^[^[:alnum:]]+|[^[:alnum:]]+$', '', 'g'), '');
end
$$;
comment on function outbox.plain_word(text) is
  'A text without case, accents, and what surrounds it: "Arrêt !" is arret. Null for a long one.';

insert into outbox.reply_word (language, word, action) values
  ('en', 'stop', 'STOP'), ('en', 'stop all', 'STOP'), ('en', 'unsubscribe', 'STOP'),
  ('en', 'opt out', 'STOP'), ('en', 'quit', 'STOP'), ('en', 'end', 'STOP'),
  ('en', 'start', 'START'), ('en', 'unstop', 'START'), ('en', 'subscribe', 'START'),
  ('en', 'opt in', 'START'),
  ('fr', 'arret', 'STOP'), ('fr', 'arreter', 'STOP'), ('fr', 'desabonner', 'STOP'),
  ('fr', 'se desabonner', 'STOP'), ('fr', 'me desabonner', 'STOP'), ('fr', 'desinscrire', 'STOP'),
  ('fr', 'desinscription', 'STOP'), ('fr', 'reprendre', 'START'), ('fr', 's''abonner', 'START'),
  ('de', 'stopp', 'STOP'), ('de', 'abmelden', 'STOP'), ('de', 'abbestellen', 'STOP'),
  ('de', 'anmelden', 'START'),
  ('es', 'baja', 'STOP'), ('es', 'darme de baja', 'STOP'), ('es', 'cancelar', 'STOP'),
  ('es', 'parar', 'STOP'), ('es', 'salir', 'STOP'), ('es', 'alta', 'START'),
  ('it', 'cancellami', 'STOP'), ('it', 'disiscrivimi', 'STOP'),
  ('it', 'annulla iscrizione', 'STOP'), ('it', 'iscrivimi', 'START'),
  ('pt', 'parar', 'STOP'), ('pt', 'sair', 'STOP'), ('pt', 'cancelar', 'STOP'),
  ('pt', 'voltar', 'START'),
  ('nl', 'afmelden', 'STOP'), ('nl', 'uitschrijven', 'STOP'), ('nl', 'aanmelden', 'START');

create function outbox.put_reply_word(
  p_org_id text, p_language text, p_word text, p_action text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_word text := outbox.plain_word(p_word);
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_choice('action', p_action, array['STOP', 'START', 'NONE']);
  if p_language is null or p_language !~ '^[a-z]{2,3}$' then
    perform outbox.invalid('language', 'is not the code of a language', 'Expected fr or similar');
  end if;
  if v_word is null then
    perform outbox.invalid('word', 'is empty or longer than 100 characters',
      'Expected what a person would write as a whole message');
  end if;
  insert into outbox.reply_word as w (org_id, language, word, action)
  values (p_org_id, p_language, v_word, p_action)
  on conflict (org_id, language, word) do update set action = excluded.action;
  perform outbox.audit(p_org_id, 'REPLY_WORD', v_word, 'UPDATED',
    pg_catalog.format('%s means %s (%s)', v_word, p_action, p_language), p_actor, outbox.clock());
  return pg_catalog.jsonb_build_object('language', p_language, 'word', v_word, 'action', p_action);
end
$$;
comment on function outbox.put_reply_word(text, text, text, text, text) is
  'Says what a word means to an organisation, as a whole message: STOP, START, or NONE where all '
  'others take it for one of them. Returns {"language", "word", "action"}. OH001.';

create function outbox.list_reply_words(p_org_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('language', w.language,
        'word', w.word, 'action', w.action, 'own', w.org_id <> '*')
      order by w.language, w.word, w.org_id)
    from outbox.reply_word w
    where w.org_id = p_org_id or (w.org_id = '*' and not exists (
      select from outbox.reply_word o where o.org_id = p_org_id and o.word = w.word))), '[]'));
end
$$;
comment on function outbox.list_reply_words(text) is
  'The words that mean STOP or START to an organisation: {"data": [{"language", "word", "action", '
  '"own": the organisation has said so itself}]}.';

create type outbox.opt_out_change as (
  org_id text,
  recipient text,
  purpose text,
  lifted boolean,
  at timestamptz,
  source text,
  evidence text,
  entity_type text,
  entity_id text
);
comment on type outbox.opt_out_change is
  'A person wants no messages of a purpose, or wants them again (lifted): said when and where, and '
  'what the audit trail files it under.';
