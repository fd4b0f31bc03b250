-- Inbound messages: each is stored once, opens the 24-hour window, may be an opt-out (STOP or
-- START), and is published to the organisation's own endpoints. Preferences from WhatsApp's button
-- are opt-outs, too. Updates are applied one by one, because they are few compared with statuses.

create function outbox.apply_inbound(
  p_ids bigint[], p_opt_outs outbox.opt_out_change[], p_now timestamptz
) returns outbox.opt_out_change[]
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_update outbox.whatsapp_update;
  v_opt_outs outbox.opt_out_change[] := p_opt_outs;
  v_more outbox.opt_out_change[];
  v_statuses text[] := array[]::text[];
  v_reasons text[] := array[]::text[];
  v_ids bigint[] := array[]::bigint[];
  v_reason text;
begin
  for v_update in
    select u.* from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind in ('message', 'preference') and u.update_status = 'stored'
    -- The messages of a sender in the order of sending.
    order by u.org_id, u.wa_id, u.user_id, u.happened_at, u.wamid, u.id
  loop
    if outbox.changes_number(v_update.data) and pg_catalog.cardinality(v_opt_outs) > 0 then
      -- What was said from the old number goes along to the new one.
      perform outbox.save_opt_outs(v_opt_outs, p_now);
      v_opt_outs := array[]::outbox.opt_out_change[];
    end if;
    if v_update.kind = 'message' then
      select * into v_reason, v_more from outbox.apply_inbound_message(v_update, p_now);
    else
      select * into v_reason, v_more from outbox.apply_preference(v_update);
    end if;
    v_opt_outs := v_opt_outs || v_more;
    v_ids := v_ids || v_update.id;
    v_statuses := v_statuses || case when v_reason is null then 'applied' else 'skipped' end;
    v_reasons := v_reasons || v_reason;
  end loop;
  if pg_catalog.cardinality(v_ids) > 0 then
    perform outbox.save_verdicts(v_ids, v_statuses, v_reasons, p_now);
    perform outbox.kick_on_commit();
  end if;
  return v_opt_outs;
end
$$;
comment on function outbox.apply_inbound(
  bigint[], outbox.opt_out_change[], timestamptz) is
  'Applies the messages and preferences of stored updates; returns the opt-outs that are still to '
  'be saved, p_opt_outs included. Before a person changes the number it saves all of them. locks: '
  'the caller has joined and holds the people (see links_of_updates()).';

create function outbox.apply_inbound_message(
  p_update outbox.whatsapp_update, p_now timestamptz, out reason text,
  out opt_outs outbox.opt_out_change[]
)
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_identifiers text[] := outbox.update_identifiers(p_update);
  v_person bigint := outbox.known_person(p_update.org_id, v_identifiers);
  v_message outbox.inbound_message;
  v_action text;
begin
  insert into outbox.inbound_message as m (org_id, channel_id, phone_number_id, wamid, person_id,
    type, text, reply_to, payload, sent_at, received_at)
  values (p_update.org_id, p_update.channel_id, p_update.phone_number_id, p_update.wamid, v_person,
    coalesce(p_update.status, 'unknown'), outbox.inbound_text(p_update.data),
    (outbox.replied_attempt(p_update)).message_id, p_update.data - 'contact',
    p_update.happened_at, p_now)
  -- WhatsApp may send a message as unsupported, and later the same id with its content.
  on conflict (phone_number_id, wamid) do update set
    type = excluded.type, text = excluded.text, reply_to = excluded.reply_to,
    payload = excluded.payload
  where m.type = 'unsupported' and excluded.type <> 'unsupported' and m.org_id = excluded.org_id
  returning m.* into v_message;
  if v_message.id is null then
    reason := 'already';
    return;
  end if;
  perform outbox.save_contact(v_person, p_update.data -> 'contact');
  -- The time of the stored message counts, and not that of its repeat.
  if v_message.type <> 'system' and v_person is not null then
    perform outbox.open_window(p_update.channel_id, v_person, v_message.sent_at);
  end if;
  v_action := outbox.reply_action(p_update.org_id, p_update.data);
  if v_action is not null then
    opt_outs := outbox.opt_out_changes(p_update, v_message.sent_at,
      outbox.speaker_of(v_identifiers),
      case when v_action = 'START' then array['ALL', 'MARKETING'] else array['ALL'] end,
      v_action = 'START', pg_catalog.format('inbound %s', v_action), v_message.text);
  elsif outbox.changes_number(p_update.data) then
    opt_outs := outbox.opt_out_changes(p_update, v_message.sent_at,
      outbox.leave_number(p_update, p_now), array['ALL'], false, 'number changed', v_message.text);
  end if;
  perform outbox.publish_inbound(v_message, p_update, v_action);
end
$$;
comment on function outbox.apply_inbound_message(outbox.whatsapp_update, timestamptz) is
  'Stores one inbound message, opens the window, publishes the message, and returns the opt-outs. '
  'reason: why it changed nothing; null if it changed something.';

create function outbox.is_left(
  p_update outbox.whatsapp_update, p_old text, p_new text
) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_since timestamptz := p_update.happened_at - interval '1 day';
begin
  -- WhatsApp reports a change to each channel. A second report would join the next owner of the
  -- old number. A change back within the day is another one: then left_at is that of p_new.
  return exists (
      select from outbox.person_identifier i
      where i.org_id = p_update.org_id and i.value = p_old and i.left_at > v_since)
    and (p_new is null or exists (
      select from outbox.person_identifier i
      where i.org_id = p_update.org_id and i.value = p_new and i.parted_at > v_since))
    -- A late report: the owner has left the new number since. It adds nothing if people have been
    -- parted from the old number since, as by a change back, or if nobody knows where the owner is.
    or exists (
      select from outbox.person_identifier i
      where i.org_id = p_update.org_id and i.value = p_new and i.left_at >= p_update.happened_at
        and (coalesce(outbox.later_number(p_update), p_old) = p_old or exists (
          select from outbox.person_identifier o
          where o.org_id = i.org_id and o.value = p_old
            and o.parted_at >= p_update.happened_at)));
end
$$;
comment on function outbox.is_left(outbox.whatsapp_update, text, text) is
  'Whether a change from one number to another was reported before, or is older than a change '
  'that has parted the old number. p_new: null if the report names no new number.';

create function outbox.leave_number(
  p_update outbox.whatsapp_update, p_now timestamptz
) returns text
language plpgsql set search_path = ''
as $$
declare
  v_old text := outbox.identifier_of(p_update.wa_id);
  v_new text := outbox.new_number(p_update.data);
  v_numbers text[];
  v_person bigint;
begin
  if v_old is null or v_old is not distinct from v_new then
    return null;
  end if;
  if outbox.is_left(p_update, v_old, v_new) then
    return null;
  end if;
  -- The owner may have left the new number again.
  v_new := coalesce(outbox.later_number(p_update), v_new);
  v_numbers := pg_catalog.array_remove(array[v_old, v_new], null);
  v_person := outbox.save_person(p_update.org_id, pg_catalog.array_remove(
    v_numbers || outbox.user_identifier(p_update.user_id), null), p_now);
  -- All ways to write the old number leave the person.
  perform outbox.part_off(v_person, array(
    select i.value from outbox.person_identifier i
    where i.person_id = v_person and i.kind = 'NUMBER' and i.value is distinct from v_new
    order by i.value), p_update.happened_at, null, p_now);
  update outbox.person_identifier i
  set left_at = case when i.value = v_old then p_update.happened_at end,
    left_to = case when i.value = v_old then v_person end
  where i.org_id = p_update.org_id and i.value = any (v_numbers);
  return v_old;
end
$$;
comment on function outbox.leave_number(outbox.whatsapp_update, timestamptz) is
  'Moves a person to the number that WhatsApp names, with all opt-outs. The old number becomes a '
  'person of its own with the same opt-outs, and is returned: its next owner has not agreed to '
  'messages. If the person has left the new number again, it is the number of now. Null if this '
  'change was reported before. locks: the caller holds the people of both '
  'numbers.';

create function outbox.apply_preference(
  p_update outbox.whatsapp_update, out reason text, out opt_outs outbox.opt_out_change[]
)
language plpgsql set search_path = ''
as $$
declare
  v_identifiers text[] := outbox.update_identifiers(p_update);
begin
  reason := case
    when p_update.data ->> 'category' <> 'marketing_messages' then 'not_used'
    when coalesce(p_update.status, '') not in ('stop', 'resume', 'signup') then 'unknown_status'
    when pg_catalog.cardinality(v_identifiers) = 0 then 'unknown_person'
  end;
  if reason is null then
    perform outbox.save_contact(outbox.known_person(p_update.org_id, v_identifiers),
      p_update.data -> 'contact');
    opt_outs := outbox.opt_out_changes(p_update, p_update.happened_at,
      outbox.speaker_of(v_identifiers), array['MARKETING'], p_update.status <> 'stop',
      'preference ' || p_update.status, p_update.data ->> 'detail');
  end if;
end
$$;
comment on function outbox.apply_preference(outbox.whatsapp_update) is
  'Applies the sender''s choice about marketing messages from WhatsApp''s own button. locks: the '
  'caller holds the person.';

create function outbox.opt_out_changes(
  p_update outbox.whatsapp_update, p_at timestamptz, p_recipient text, p_purposes text[],
  p_lifted boolean, p_source text, p_words text
) returns outbox.opt_out_change[]
language plpgsql set search_path = ''
as $$
begin
  return array(
    select row(p_update.org_id, p_recipient, p, p_lifted, p_at, p_source, p_update.wamid,
      pg_catalog.left(p_words, 1000), null, null)::outbox.opt_out_change
    from pg_catalog.unnest(p_purposes) p
    where p_recipient is not null);
end
$$;
comment on function outbox.opt_out_changes(
  outbox.whatsapp_update, timestamptz, text, text[], boolean, text, text) is
  'The opt-out changes of an update, one for each purpose, with WhatsApp''s id and the words of '
  'the person as evidence; none without a recipient.';

create function outbox.inbound_text(p_data jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.left(coalesce(p_data #>> '{text,body}', p_data #>> '{button,text}',
    p_data #>> '{interactive,button_reply,title}', p_data #>> '{interactive,list_reply,title}',
    p_data #>> '{interactive,nfm_reply,body}', p_data #>> '{reaction,emoji}',
    p_data #>> '{image,caption}', p_data #>> '{video,caption}', p_data #>> '{document,caption}',
    p_data #>> '{system,body}'), 4096);
end
$$;
comment on function outbox.inbound_text(jsonb) is
  'The readable text of an inbound message; null if it has none.';

create function outbox.reply_action(p_org_id text, p_data jsonb) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_word text;
  v_action text;
begin
  -- The payload of a button counts before its text, because the text may be anything.
  for v_word in
    select w.word
    from pg_catalog.unnest(array[p_data #>> '{text,body}', p_data #>> '{button,payload}',
      p_data #>> '{button,text}', p_data #>> '{interactive,button_reply,id}',
      p_data #>> '{interactive,button_reply,title}', p_data #>> '{interactive,list_reply,id}',
      p_data #>> '{interactive,list_reply,title}']) with ordinality as t (value, place)
    cross join lateral outbox.plain_word(t.value) as w (word)
    where w.word is not null
    order by t.place
  loop
    select r.action into v_action from outbox.reply_word r
    where r.word = v_word and r.org_id in (p_org_id, '*')
    order by r.org_id = '*', r.action = 'STOP' desc limit 1;
    if v_action is not null then
      return nullif(v_action, 'NONE');
    end if;
  end loop;
  return null;
end
$$;
comment on function outbox.reply_action(text, jsonb) is
  'STOP or START if an inbound message, or the chosen button, is one of the organisation''s '
  'words.';

create function outbox.replied_attempt(
  p_update outbox.whatsapp_update
) returns outbox.message_attempt
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_attempt outbox.message_attempt;
begin
  select x.* into v_attempt from outbox.message_attempt x
  where x.phone_number_id = p_update.phone_number_id
    and x.wamid = coalesce(p_update.data #>> '{context,id}',
      p_update.data #>> '{reaction,message_id}');
  if found and exists (
    select from outbox.outbound_message m
    where m.id = v_attempt.message_id and m.org_id = p_update.org_id)
  then
    return v_attempt;
  end if;
  return null;
end
$$;
comment on function outbox.replied_attempt(outbox.whatsapp_update) is
  'The attempt of the outbound message that an inbound message replies or reacts to, or null.';

create function outbox.publish_inbound(
  p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_at timestamptz := outbox.event_time();
  v_id uuid := outbox.uuid_v7(v_at);
  v_body jsonb := pg_catalog.jsonb_build_object(
    'inboundMessageId', p_message.id::text, 'channelId', p_message.channel_id,
    'personId', p_message.person_id::text, 'from', outbox.wa_id_to_e164(p_update.wa_id),
    'userId', p_update.user_id, 'name', p_update.data #>> '{contact,profile,name}',
    'type', p_message.type, 'text', p_message.text, 'replyTo', p_message.reply_to::text,
    'meaning', p_action, 'sentAt', outbox.iso_time(p_message.sent_at));
  v_payload text := (v_body || pg_catalog.jsonb_build_object('message', p_message.payload))::text;
begin
  if pg_catalog.octet_length(v_payload) > outbox.setting_int('publish.max_body_bytes') then
    v_payload := (v_body || pg_catalog.jsonb_build_object('message', null))::text;
  end if;
  insert into outbox.event (id, org_id, type, body, partition_key, idempotency_key, traceparent,
    created_at)
  values (v_id, p_message.org_id, 'whatsapp.message.received', v_payload,
    outbox.person_key(coalesce(outbox.wa_id_to_e164(p_update.wa_id), p_update.user_id, '')),
    p_update.key, outbox.current_traceparent(), v_at);
  insert into outbox.unrouted (event_id, org_id) values (v_id, p_message.org_id);
end
$$;
comment on function
  outbox.publish_inbound(outbox.inbound_message, outbox.whatsapp_update, text) is
  'Publishes whatsapp.message.received: {"inboundMessageId", "channelId", "personId", "from", '
  '"userId", "name", "type", "text", "replyTo", "meaning": STOP or START, "sentAt", "message": '
  'WhatsApp''s original, or null if too large}. An endpoint ordered by partition gets the '
  'messages of a sender in order.';
