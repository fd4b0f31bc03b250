-- Inbound messages. A sender is a person of an organisation. WhatsApp identifies a sender by the
-- number (wa_id), by an id if the user hides the number (user_id), or by both. opt_out stores
-- opt-outs; reply_word has the words that mean an opt-out.

create table outbox.inbound_message (
  id bigint generated always as identity primary key,
  org_id text not null,
  channel_id uuid not null,
  phone_number_id text not null,
  wamid text,
  person_id bigint,
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
  'Inbound messages, each once. type is WhatsApp''s; text is the readable text; reply_to is the '
  'outbound message that it replies to; payload is the rest of the update. At erased_at, '
  'message.retention_days after its arrival, text, payload and ids were erased.';
create index inbound_message_org on outbox.inbound_message (org_id, id);
create index inbound_message_channel on outbox.inbound_message (org_id, channel_id, id);
create index inbound_message_sender on outbox.inbound_message (person_id, id);
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
  'Words that opt a sender out (STOP) or in (START), as a whole message or the payload of a '
  'button, in the form of plain_word(). Organisation * is for all; an organisation''s own row '
  'overrides it, and NONE disables the word.';
create index reply_word_word on outbox.reply_word (word, org_id);

create function outbox.plain_word(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- At most 100 characters: a sentence that contains such a word needs a human reader.
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
  'A text in lower case, without accents and surrounding punctuation: "Arrêt !" becomes arret. '
  'Null if it is longer than 100 characters.';

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
  perform outbox.check_user_org(p_org_id);
  perform outbox.check_choice('action', p_action, array['STOP', 'START', 'NONE']);
  if p_language is null or p_language !~ '^[a-z]{2,3}$' then
    perform outbox.invalid('language', 'is not a language code',
      'Expected 2 or 3 letters, such as fr');
  end if;
  if v_word is null then
    perform outbox.invalid('word', 'is empty or longer than 100 characters',
      'Expected the text of a whole message, such as stop');
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
  'Sets the meaning of a word as a whole message for an organisation: STOP, START, or NONE to '
  'disable a word of all organisations. Returns {"language", "word", "action"}. OH001.';

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
  'The words that mean STOP or START for an organisation: {"data": [{"language", "word", '
  '"action", "own": it is the organisation''s own row}]}.';
