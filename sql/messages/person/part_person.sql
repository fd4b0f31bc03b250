-- Two people who were joined by mistake, such as the old and the new owner of a number, are parted
-- by an operator. Nobody knows who asked for what, so both keep every opt-out, and the windows of
-- both are closed. Older updates and older messages do not join them again.

create function outbox.recipients_json(p_person_id bigint) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return coalesce((
    select pg_catalog.jsonb_agg(i.value order by i.value)
    from outbox.person_identifier i
    where i.person_id = p_person_id and i.value not like '#%'), '[]');
end
$$;
comment on function outbox.recipients_json(bigint) is
  'The identifiers of a person as a JSON array, numbers first; empty if the person was erased.';

create function outbox.person_json(p_person_id bigint) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select pg_catalog.jsonb_build_object('id', p.id::text,
      'recipients', outbox.recipients_json(p.id), 'name', p.name, 'username', p.username,
      'optOuts', coalesce((
        select pg_catalog.jsonb_agg(outbox.opt_out_json(o) order by o.purpose)
        from outbox.opt_out o where o.person_id = p.id and not o.lifted), '[]'),
      'windows', coalesce((
        select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('channelId', w.channel_id,
          'expiresAt', outbox.iso_time(w.expires_at)) order by w.channel_id)
        from outbox.conversation_window w where w.person_id = p.id), '[]'),
      'firstSeenAt', outbox.iso_time(p.first_seen_at),
      'lastSeenAt', outbox.iso_time(p.last_seen_at))
    from outbox.person p where p.id = p_person_id);
end
$$;
comment on function outbox.person_json(bigint) is
  'A person as the API returns it.';

create function outbox.get_person(p_org_id text, p_recipient text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_id bigint := outbox.find_person(p_org_id, outbox.check_identifier(p_recipient));
begin
  if v_id is null then
    perform outbox.raise_unknown_person();
  end if;
  return outbox.person_json(v_id);
end
$$;
comment on function outbox.get_person(text, text) is
  'The person with a number, a wa_id or a user id of WhatsApp: {"id", "recipients": [all '
  'identifiers], "name", "username", "optOuts": as list_opt_outs(), "windows": [{"channelId", '
  '"expiresAt"}], "firstSeenAt", "lastSeenAt"}. OH001; OH002: nothing is known of the recipient.';

create function outbox.raise_unknown_person() returns void
language plpgsql volatile set search_path = ''
as $$
begin
  -- The error does not show the value, because it may be a real number.
  raise exception using errcode = 'OH002', message = 'the person does not exist',
    hint = 'Nothing but messages to this number is known. Use an identifier of get_person()';
end
$$;
comment on function outbox.raise_unknown_person() is
  'Raises OH002: no person has the identifier.';

create function outbox.part_person(
  p_org_id text, p_recipients text[], p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_recipients text[] := array(
    select distinct outbox.check_identifier(r) from pg_catalog.unnest(p_recipients) r);
  v_person bigint;
  v_new bigint;
begin
  if pg_catalog.cardinality(v_recipients) = 0 then
    perform outbox.invalid('recipients', 'is empty', 'Give the identifiers that leave the person');
  end if;
  v_person := outbox.find_person(p_org_id, v_recipients[1]);
  if v_person is null then
    perform outbox.raise_unknown_person();
  end if;
  -- Locks the person, and restores all these identifiers if the person was erased.
  v_person := (outbox.join_people(array(
    select row(p_org_id, array[r])::outbox.person_link
    from pg_catalog.unnest(v_recipients) with ordinality as u (r, n) order by u.n), v_now))[1];
  if exists (
    select from pg_catalog.unnest(v_recipients) r
    where outbox.find_person(p_org_id, r) is distinct from v_person)
  then
    raise exception using errcode = 'OH004', message = 'the recipients are not one person',
      hint = 'Give identifiers of one person, as get_person() returns them';
  end if;
  v_new := outbox.part_off(v_person, v_recipients, v_now, p_actor, v_now);
  if v_new = v_person then
    raise exception using errcode = 'OH004', message = 'the person has no other recipients',
      hint = 'Give only those that leave the person';
  end if;
  delete from outbox.conversation_window w where w.person_id = v_person;
  return pg_catalog.jsonb_build_object('person', outbox.person_json(v_person),
    'parted', outbox.person_json(v_new));
end
$$;
comment on function outbox.part_person(text, text[], text) is
  'Parts people who were joined by mistake: these identifiers of a person become a person of their '
  'own. Both keep all opt-outs; the windows of both are closed. Returns {"person", "parted"}, both '
  'as get_person(). If WhatsApp links them again later, they are joined again; older updates and '
  'older messages do not join them. OH001; OH002: nothing is known of the recipient; OH004: they '
  'are of several people, or all identifiers of the person. locks: the person.';

create function outbox.part_off(
  p_person_id bigint, p_identifiers text[], p_at timestamptz, p_actor text, p_now timestamptz
) returns bigint
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_person outbox.person;
  v_keys text[];
  v_new bigint;
begin
  select * into v_person from outbox.person p where p.id = p_person_id;
  if not exists (
    select from outbox.person_identifier i
    where i.person_id = p_person_id and i.value <> all (p_identifiers))
  then
    return p_person_id;
  end if;
  v_keys := array(
    select outbox.person_key(i) from pg_catalog.unnest(p_identifiers) i
    where i like '+%' order by i);
  -- Below all other ids: see the head of person.
  v_new := -pg_catalog.nextval('outbox.person_id_seq');
  insert into outbox.person (id, org_id, lane_keys, first_seen_at, last_seen_at)
  values (v_new, v_person.org_id, v_keys, p_now, p_now);
  update outbox.person p set lane_keys = array(
    select u.k from pg_catalog.unnest(p.lane_keys) with ordinality as u (k, n)
    where u.k <> all (v_keys) order by u.n)
  where p.id = p_person_id;
  update outbox.person_identifier i set
    person_id = case when i.value = any (p_identifiers) then v_new else p_person_id end,
    -- A number changes hands, a user id does not.
    parted_at = case when i.kind = 'NUMBER' then greatest(i.parted_at, p_at) else i.parted_at end
  where i.person_id = p_person_id;
  perform outbox.copy_opt_outs(v_person.org_id, p_person_id, v_new);
  perform outbox.audit(v_person.org_id, 'PERSON', p.id::text, 'PARTED',
    pg_catalog.format('Parted from person %s', p.other), p_actor, p_now)
  from (values (1, p_person_id, v_new), (2, v_new, p_person_id)) as p (n, id, other)
  order by p.n;
  return v_new;
end
$$;
comment on function outbox.part_off(bigint, text[], timestamptz, text, timestamptz) is
  'Makes a new person, without windows, of identifiers of a person, and audits it; returns the id. '
  'p_at: since when they are two people. If the person has no other identifiers, returns that '
  'person. locks: the caller holds the person.';
