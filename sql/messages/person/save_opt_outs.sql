-- Saves what people say: the later decision counts, whatever the order in which they come.
--
-- A number that was given to somebody else may join its old and its new owner. Then the person has
-- two user ids, and a START of one does not lift the opt-out of the other (said_by).

create function outbox.said_by(
  p_person_id bigint, p_recipient text, p_key text, out said_by text, out is_shared boolean
)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  select case
      when p_recipient !~ '^[+]' then '#' || outbox.hash_person(p_recipient, p_key)
      when pg_catalog.count(*) = 1 then pg_catalog.min(u.hash)
    end, pg_catalog.count(*) > 1
  into said_by, is_shared
  from (
    select case
        when i.value like '#%' then i.value
        else '#' || outbox.hash_person(i.value, p_key)
      end as hash
    from outbox.person_identifier i where i.person_id = p_person_id and i.kind = 'USER_ID'
  ) u;
end
$$;
comment on function outbox.said_by(bigint, text, text) is
  'Who said something as p_recipient, a number or a user id of the person: the keyed hash of the '
  'user id, or of the only user id of the person; null if it is not known. is_shared: the person '
  'has several user ids, so it may be several people.';

create function outbox.save_opt_outs(
  p_changes outbox.opt_out_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_people bigint[] := outbox.join_people(array(
    select row(c.org_id, array[c.recipient])::outbox.person_link
    from pg_catalog.unnest(p_changes) with ordinality as c (org_id, recipient, purpose, lifted, at,
      source, wamid, words, entity_type, entity_id, place)
    order by c.place), p_now);
  v_key text := outbox.hash_key();
  v_change record;
  v_saved boolean;
begin
  for v_change in
    select w.* from (
      -- Of one speaker, the later request counts; at the same time, the opt-out.
      select distinct on (c.org_id, p.person_id, c.purpose, s.said_by, k.unknown) c.*, p.person_id,
        s.said_by, s.is_shared
      from pg_catalog.unnest(p_changes) with ordinality as c (org_id, recipient, purpose, lifted,
        at, source, wamid, words, entity_type, entity_id, place)
      cross join lateral (select v_people[c.place] as person_id) p
      cross join lateral outbox.said_by(p.person_id, c.recipient, v_key) s
      cross join lateral (
        select case when s.is_shared and s.said_by is null then c.place end as unknown
      ) k
      where p.person_id is not null
      order by c.org_id, p.person_id, c.purpose, s.said_by, k.unknown, c.at desc, c.lifted
    ) w
    order by w.org_id, w.person_id, w.purpose, w.at, w.lifted desc
  loop
    v_saved := outbox.save_opt_out(row(v_change.org_id, 'WHATSAPP', v_change.person_id,
      v_change.purpose, v_change.source, null, v_change.wamid, v_change.words, v_change.lifted,
      v_change.at, v_change.at, p_now, v_change.said_by)::outbox.opt_out, v_change.is_shared);
    if v_saved is not false then
      perform outbox.audit(v_change.org_id, coalesce(v_change.entity_type, 'PERSON'),
        coalesce(v_change.entity_id, v_change.person_id::text),
        case
          when v_saved is null then 'OPT_IN_IGNORED'
          when v_change.lifted then 'OPTED_IN'
          else 'OPTED_OUT'
        end,
        pg_catalog.format('WHATSAPP %s: %s', v_change.purpose, v_change.source)
          || case when v_saved is null then ', but another user id opted out' else '' end,
        null, p_now,
        (
          select m.correlation_id from outbox.outbound_message m
          where v_change.entity_type = 'OUTBOUND_MESSAGE'
            and m.id = outbox.parse_message_id(v_change.entity_id)
        ));
    end if;
  end loop;
end
$$;
comment on function outbox.save_opt_outs(outbox.opt_out_change[], timestamptz) is
  'Saves opt-out changes that are later than the stored ones, and audits them. Of a person with '
  'several user ids, the START of one does not lift the opt-out of another. locks: the people, as '
  'lock_links(), then their opt-outs.';

create function outbox.save_opt_out(
  p_change outbox.opt_out, p_is_shared boolean
) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_old outbox.opt_out;
  v_is_other boolean;
  v_is_later boolean;
begin
  select * into v_old from outbox.opt_out o
  where o.org_id = p_change.org_id and o.channel = p_change.channel
    and o.person_id = p_change.person_id and o.purpose = p_change.purpose;
  if not found then
    insert into outbox.opt_out (org_id, channel, person_id, purpose, source, wamid, words, lifted,
      said_at, decided_at, created_at, said_by)
    values (p_change.org_id, p_change.channel, p_change.person_id, p_change.purpose,
      p_change.source, p_change.wamid, p_change.words, p_change.lifted, p_change.said_at,
      p_change.decided_at, p_change.created_at, p_change.said_by);
    return true;
  end if;
  -- Two speakers whose user ids are not known may be two people.
  v_is_other := p_is_shared
    and (p_change.said_by is null or v_old.said_by is distinct from p_change.said_by);
  v_is_later := p_change.decided_at > v_old.decided_at
    or (p_change.decided_at = v_old.decided_at and v_old.lifted and not p_change.lifted);
  if v_is_other and p_change.lifted and not v_old.lifted then
    return case when v_is_later then null else false end;
  elsif v_is_other and not p_change.lifted and not v_old.lifted then
    -- Both have opted out, so no START of one lifts it.
    update outbox.opt_out o set said_by = null
    where o.org_id = p_change.org_id and o.channel = p_change.channel
      and o.person_id = p_change.person_id and o.purpose = p_change.purpose;
    p_change.said_by := null;
  elsif v_is_other and not p_change.lifted
    and (v_old.said_by is not null or v_old.wamid is not null)
  then
    -- The later START was of somebody else. An operator who lifts an opt-out speaks for all.
    v_is_later := true;
  end if;
  if v_is_later then
    update outbox.opt_out o set
      source = p_change.source, evidence = null, wamid = p_change.wamid, words = p_change.words,
      lifted = p_change.lifted, said_at = p_change.said_at, said_by = p_change.said_by,
      decided_at = greatest(o.decided_at, p_change.decided_at)
    where o.org_id = p_change.org_id and o.channel = p_change.channel
      and o.person_id = p_change.person_id and o.purpose = p_change.purpose;
  end if;
  return v_is_later;
end
$$;
comment on function outbox.save_opt_out(outbox.opt_out, boolean) is
  'Saves what a person said, if it is later than the stored decision. p_is_shared: the person has '
  'several user ids. Returns whether it was saved; null if it is a START that does not lift the '
  'opt-out of another user id. locks: the caller holds the person; the opt-out.';
