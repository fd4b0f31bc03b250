-- Links: what the updates of a call say about who is one person. A status names the recipient by
-- number and user id, a reply is from the recipient of the quoted message. join_people() applies
-- them, before the inbound messages and preferences of the call.

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

create function outbox.update_identifiers(p_update outbox.whatsapp_update) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_message outbox.outbound_message;
begin
  -- A group is no person, and neither is its message's recipient.
  if p_update.data ->> 'recipient_type' = 'group' then
    return array[]::text[];
  end if;
  select m.* into v_message from outbox.outbound_message m
  where m.id = case
      when p_update.kind = 'status' then p_update.message_id
      when p_update.kind = 'message' then outbox.replied_message(p_update)
    end
    and m.org_id = p_update.org_id and m.erased_at is null;
  return pg_catalog.array_remove(array[
    outbox.identifier_of(p_update.wa_id), outbox.user_identifier(p_update.user_id),
    outbox.identifier_of(v_message.to_recipient), outbox.identifier_of(v_message.wa_id)], null);
end
$$;
comment on function outbox.update_identifiers(outbox.whatsapp_update) is
  'The identifiers of one person that an update names: its own ids, and the recipient of its '
  'message or of the message that it quotes.';

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
    where u.org_id is not null and case u.kind
        when 'status' then u.message_id is not null
          and coalesce(u.reason, '') not in ('erased', 'other_id')
          and (outbox.is_new_link(u.org_id, k.identifiers) or (u.status = 'failed' and exists (
            select from outbox.failure_rule f
            where f.kind = 'whatsapp' and f.code = u.data #>> '{errors,0,code}'
              and f.opt_out is not null)))
        else u.kind in ('message', 'preference') and u.update_status = 'stored'
      end
    union all
    -- Locked in the same order, and joined by leave_number().
    select row(u.org_id, array[outbox.new_number(u.data)])::outbox.person_link
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'message' and u.update_status = 'stored'
      and u.data #>> '{system,type}' in ('user_changed_number', 'customer_changed_number'));
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

create function outbox.link_responses(p_results outbox.result[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  perform outbox.join_people(array(
    select row(m.org_id, k.identifiers)::outbox.person_link
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select x.message_id from outbox.message_attempt x
      where x.event_id = r.event and x.claim = r.attempt offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m
    cross join lateral (
      select pg_catalog.array_remove(array[outbox.identifier_of(m.to_recipient),
        outbox.identifier_of(r.provider ->> 'wa_id'),
        outbox.user_identifier(r.provider ->> 'user_id')], null) as identifiers offset 0
    ) k
    where r.provider ?| array['wa_id', 'user_id'] and m.erased_at is null
      and outbox.is_new_link(m.org_id, k.identifiers)), p_now);
end
$$;
comment on function outbox.link_responses(outbox.result[], timestamptz) is
  'Applies the links of WhatsApp''s responses, which name the wa_id of the number that the caller '
  'gave. locks: people, as join_people(); the caller holds the gates and the messages.';
