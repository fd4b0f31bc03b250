-- Links: what the updates of a call say about who is one person. A status names the recipient by
-- number and user id, a reply is from the recipient of the quoted message. join_people() applies
-- them, before the inbound messages and preferences of the call.
--
-- A number may get another owner. So each identifier that an update names has a time: for the
-- recipient of a message the time of the attempt, for the sender the time that WhatsApp states. If
-- people were parted after that time (parted_at), the identifier links nobody.

create function outbox.new_number(p_data jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return outbox.identifier_of(coalesce(p_data #>> '{system,wa_id}',
    p_data #>> '{system,new_wa_id}'));
end
$$;
comment on function outbox.new_number(jsonb) is
  'The number to which a person has changed, from the message of the system; null if it names '
  'none.';

create function outbox.later_number(p_update outbox.whatsapp_update) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select i.value
    from outbox.person_identifier l
    join outbox.person_identifier i on i.person_id = l.left_to and i.org_id = l.org_id
    where l.org_id = p_update.org_id and l.value = outbox.new_number(p_update.data)
      and l.left_at >= p_update.happened_at
      and i.kind = 'NUMBER' and i.value like '+%' and i.left_at is null
    order by i.created_at desc, i.value limit 1);
end
$$;
comment on function outbox.later_number(outbox.whatsapp_update) is
  'The number that a person has now, who after this report of a change has left the new number '
  'again; null if nobody has left it, or it is not known for which number.';

create function outbox.update_identifiers(p_update outbox.whatsapp_update) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_attempt outbox.message_attempt;
  v_message outbox.outbound_message;
  v_own_at timestamptz := p_update.happened_at;
begin
  -- A group is no person, and neither is its message's recipient.
  if p_update.data ->> 'recipient_type' = 'group' then
    return array[]::text[];
  end if;
  if p_update.kind = 'status' then
    select x.* into v_attempt from outbox.message_attempt x where x.id = p_update.attempt_id;
    v_own_at := coalesce(v_attempt.created_at, v_own_at);
  elsif p_update.kind = 'message' then
    v_attempt := outbox.replied_attempt(p_update);
  end if;
  select m.* into v_message from outbox.outbound_message m
  where m.id = v_attempt.message_id and m.org_id = p_update.org_id and m.erased_at is null;
  return outbox.current_identifiers(p_update.org_id,
    array[outbox.identifier_of(p_update.wa_id), outbox.user_identifier(p_update.user_id),
      outbox.identifier_of(v_message.to_recipient), outbox.identifier_of(v_message.wa_id)],
    array[v_own_at, v_own_at, v_attempt.created_at, v_attempt.created_at]);
end
$$;
comment on function outbox.update_identifiers(outbox.whatsapp_update) is
  'The identifiers of one person that an update names: its own ids, and the recipient of its '
  'message or of the message that it quotes; none that has changed hands since.';

create function outbox.current_identifiers(
  p_org_id text, p_identifiers text[], p_times timestamptz[]
) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_current text[];
begin
  v_current := array(
    select i.value
    from unnest(p_identifiers, p_times) with ordinality as i (value, at, n)
    where i.value is not null and not exists (
      select from outbox.person_identifier x
      where x.org_id = p_org_id and x.value = i.value and x.parted_at >= i.at)
    order by i.n);
  if pg_catalog.cardinality(v_current) > 0 then
    return v_current;
  end if;
  -- So that an opt-out or opt-in is not lost: it belongs to the first identifier alone.
  return array(
    select i.value from pg_catalog.unnest(p_identifiers) with ordinality as i (value, n)
    where i.value is not null order by i.n limit 1);
end
$$;
comment on function outbox.current_identifiers(text, text[], timestamptz[]) is
  'Of identifiers that were named together, each with its time, those that have not changed hands '
  'since (parted_at). If all have, only the first.';

create function outbox.speaker_of(p_identifiers text[]) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- A number may get another owner, a user id does not.
  return coalesce((
    select i.value from pg_catalog.unnest(p_identifiers) as i (value)
    where i.value !~ '^[+]' limit 1), p_identifiers[1]);
end
$$;
comment on function outbox.speaker_of(text[]) is
  'The identifier of the person who has said something in an update: the user id, if it has one, '
  'or else the first identifier.';

create function outbox.changes_number(p_data jsonb) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce(
    p_data #>> '{system,type}' in ('user_changed_number', 'customer_changed_number'), false);
end
$$;
comment on function outbox.changes_number(jsonb) is
  'Whether an inbound message is WhatsApp''s report that a person has changed the number.';

create function outbox.links_of_updates(p_ids bigint[]) returns outbox.person_link[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return array(
    select row(u.org_id, k.identifiers)::outbox.person_link
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    cross join lateral (select outbox.update_identifiers(u) as identifiers offset 0) k
    where u.org_id is not null and not outbox.changes_number(u.data) and case u.kind
        when 'status' then u.message_id is not null
          and coalesce(u.reason, '') not in ('erased', 'other_id')
          and (outbox.is_new_link(u.org_id, k.identifiers) or (u.status = 'failed' and exists (
            select from outbox.failure_rule f
            where f.kind = 'whatsapp' and f.code = u.data #>> '{errors,0,code}'
              and f.opt_out is not null)))
        else u.kind in ('message', 'preference') and u.update_status = 'stored'
      end
    union all
    -- Locked here, and joined by leave_number().
    select row(u.org_id, array[k.identifier])::outbox.person_link
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    cross join lateral pg_catalog.unnest(
      outbox.update_identifiers(u) || outbox.new_number(u.data) || outbox.later_number(u)
    ) as k (identifier)
    where u.org_id is not null and u.kind = 'message' and u.update_status = 'stored'
      and outbox.changes_number(u.data) and k.identifier is not null);
end
$$;
comment on function outbox.links_of_updates(bigint[]) is
  'The links of stored updates: all of inbound messages and preferences; of statuses those that '
  'say something new or cause an opt-out, so that other statuses lock no person.';

create function outbox.is_new_link(p_org_id text, p_identifiers text[]) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select pg_catalog.count(distinct v.value) > 1 and (
      pg_catalog.count(distinct i.person_id) <> 1
      or pg_catalog.count(distinct i.value) < pg_catalog.count(distinct v.value))
    from pg_catalog.unnest(p_identifiers) as v (value)
    left join lateral (
      select x.value, x.person_id from outbox.person_identifier x
      where x.org_id = p_org_id and x.value = v.value offset 0
    ) i on true);
end
$$;
comment on function outbox.is_new_link(text, text[]) is
  'Whether these identifiers are not yet known to be one person.';

create function outbox.links_of_responses(p_results outbox.result[]) returns outbox.person_link[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return array(
    select row(m.org_id, k.identifiers)::outbox.person_link
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select x.message_id, x.created_at from outbox.message_attempt x
      where x.event_id = r.event and x.claim = r.attempt offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m
    cross join lateral (
      select outbox.current_identifiers(m.org_id,
        array[outbox.identifier_of(m.to_recipient), outbox.identifier_of(r.provider ->> 'wa_id'),
          outbox.user_identifier(r.provider ->> 'user_id')],
        array[a.created_at, a.created_at, a.created_at]) as identifiers offset 0
    ) k
    where r.provider ?| array['wa_id', 'user_id'] and m.erased_at is null
      and outbox.is_new_link(m.org_id, k.identifiers));
end
$$;
comment on function outbox.links_of_responses(outbox.result[]) is
  'The links of WhatsApp''s responses that say something new. A response names the wa_id and the '
  'user id of the number that the caller gave.';
