-- Joins the people that links name. The head of person explains the order of the locks.

create function outbox.join_people(
  p_links outbox.person_link[], p_now timestamptz
) returns bigint[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_linked outbox.linked_identifier[] := outbox.lock_links(p_links, p_now);
  v_place integer;
  v_people bigint[];
begin
  if pg_catalog.cardinality(v_linked) = 0 then
    return pg_catalog.array_fill(null::bigint, array[coalesce(pg_catalog.cardinality(p_links), 0)]);
  end if;
  for v_place in
    select x.place from pg_catalog.unnest(v_linked) x
    cross join lateral outbox.people_with(x.org_id, x.value, x.hash) w
    group by x.place having pg_catalog.count(distinct w.person_id) > 1
    order by x.place
  loop
    v_people := array(
      select distinct w.person_id from pg_catalog.unnest(v_linked) x
      cross join lateral outbox.people_with(x.org_id, x.value, x.hash) w
      where x.place = v_place order by 1);
    for v_n in 2 .. pg_catalog.cardinality(v_people) loop
      perform outbox.join_two(v_people[1], v_people[v_n], p_now);
    end loop;
  end loop;
  perform outbox.touch_people(v_linked, p_now);
  return array(
    select (
      select w.person_id from pg_catalog.unnest(l.identifiers) with ordinality as i (value, n)
      cross join lateral outbox.people_with(l.org_id, i.value, null) w
      order by i.n limit 1)
    from pg_catalog.unnest(p_links) with ordinality as l (org_id, identifiers, place)
    order by l.place);
end
$$;
comment on function outbox.join_people(outbox.person_link[], timestamptz) is
  'Creates and joins people so that the identifiers of each link are one person. Returns the id of '
  'the person of each link, by position; null for a link without identifiers. locks: as '
  'lock_links().';

create function outbox.lock_links(
  p_links outbox.person_link[], p_now timestamptz
) returns outbox.linked_identifier[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_key text;
  v_linked outbox.linked_identifier[];
begin
  if coalesce(pg_catalog.cardinality(p_links), 0) = 0 then
    return array[]::outbox.linked_identifier[];
  end if;
  v_key := outbox.hash_key();
  v_linked := array(
    select row(l.place, l.org_id, i.value,
      '#' || outbox.hash_person(i.value, v_key))::outbox.linked_identifier
    from pg_catalog.unnest(p_links) with ordinality as l (org_id, identifiers, place)
    cross join lateral (select distinct u.value from pg_catalog.unnest(l.identifiers) as u (value)
      where u.value is not null) i
    order by l.org_id, i.value, l.place);
  perform outbox.lock_people(v_linked, p_now);
  return v_linked;
end
$$;
comment on function outbox.lock_links(outbox.person_link[], timestamptz) is
  'Locks the people that links name, after creating those that are missing, and returns the '
  'identifiers. A call that joins and saves people several times first locks all of them here. '
  'locks: the keys of new identifiers, then people from the highest id to the lowest.';

create function outbox.people_with(
  p_org_id text, p_value text, p_hash text
) returns table (person_id bigint)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select i.person_id from outbox.person_identifier i
  where i.org_id = p_org_id and i.value = p_value;
  if not found and p_hash is not null then
    return query
    select i.person_id from outbox.person_identifier i
    where i.org_id = p_org_id and i.value = p_hash;
  end if;
end
$$;
comment on function outbox.people_with(text, text, text) is
  'The person with an identifier, given as its value and, of erased people, its hash.';

create function outbox.add_people(
  p_linked outbox.linked_identifier[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  with missing as materialized (
    select distinct on (x.org_id, x.value) x.org_id, x.value, x.place
    from pg_catalog.unnest(p_linked) x
    where not exists (select from outbox.people_with(x.org_id, x.value, x.hash))
    order by x.org_id, x.value, x.place
  ), numbered as materialized (
    select p.org_id, p.place, pg_catalog.nextval('outbox.person_id_seq') as id
    from (select distinct m.org_id, m.place from missing m) p
  ), added as (
    -- In one order, so that two transactions that add the same identifiers do not deadlock.
    insert into outbox.person_identifier (org_id, value, kind, person_id, created_at)
    select m.org_id, m.value, case when m.value like '+%' then 'NUMBER' else 'USER_ID' end, n.id,
      p_now
    from missing m
    join numbered n on n.org_id = m.org_id and n.place = m.place
    order by m.org_id, m.value
    on conflict (org_id, value) do nothing
    returning person_identifier.org_id, person_identifier.person_id
  )
  insert into outbox.person (id, org_id, first_seen_at, last_seen_at)
  select distinct a.person_id, a.org_id, p_now, p_now from added a;
end
$$;
comment on function outbox.add_people(outbox.linked_identifier[], timestamptz) is
  'Creates a person for the identifiers of each link that are not known. locks: the keys of new '
  'identifiers, in order.';

create function outbox.lock_people(
  p_linked outbox.linked_identifier[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_locked bigint[] := array[]::bigint[];
  v_id bigint;
  v_moved boolean;
begin
  loop
    perform outbox.add_people(p_linked, p_now);
    loop
      v_moved := false;
      for v_id in
        select distinct w.person_id from pg_catalog.unnest(p_linked) x
        cross join lateral outbox.people_with(x.org_id, x.value, x.hash) w
        where w.person_id <> all (v_locked)
        order by w.person_id desc
      loop
        perform from outbox.person p where p.id = v_id for update;
        -- Another transaction has joined the person to one with a lower id, or has deleted it.
        v_moved := not found;
        exit when v_moved;
        v_locked := v_locked || v_id;
      end loop;
      exit when not v_moved and not exists (
        select from pg_catalog.unnest(p_linked) x
        cross join lateral outbox.people_with(x.org_id, x.value, x.hash) w
        where w.person_id <> all (v_locked));
    end loop;
    exit when not exists (
      select from pg_catalog.unnest(p_linked) x
      where not exists (select from outbox.people_with(x.org_id, x.value, x.hash)));
  end loop;
end
$$;
comment on function outbox.lock_people(outbox.linked_identifier[], timestamptz) is
  'Creates the people of the links that are missing, and locks all of them. Repeats what another '
  'transaction has changed meanwhile. locks: people from the highest id to the lowest.';

create function outbox.join_two(p_keep bigint, p_gone bigint, p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_gone outbox.person;
begin
  delete from outbox.person p where p.id = p_gone returning p.* into v_gone;
  update outbox.person p set
    name = coalesce(p.name, v_gone.name), username = coalesce(p.username, v_gone.username),
    parent_user_id = coalesce(p.parent_user_id, v_gone.parent_user_id),
    lane_keys = p.lane_keys || array(
      select k from pg_catalog.unnest(v_gone.lane_keys) k where k <> all (p.lane_keys)),
    first_seen_at = least(p.first_seen_at, v_gone.first_seen_at),
    last_seen_at = greatest(p.last_seen_at, v_gone.last_seen_at)
  where p.id = p_keep;
  update outbox.person_identifier i set person_id = p_keep where i.person_id = p_gone;
  update outbox.inbound_message m set person_id = p_keep where m.person_id = p_gone;
  perform outbox.copy_opt_outs(v_gone.org_id, p_gone, p_keep);
  delete from outbox.opt_out o where o.org_id = v_gone.org_id and o.person_id = p_gone;
  insert into outbox.conversation_window as w (channel_id, person_id, expires_at)
  select g.channel_id, p_keep, g.expires_at from outbox.conversation_window g
  where g.person_id = p_gone
  on conflict (channel_id, person_id) do update
    set expires_at = greatest(w.expires_at, excluded.expires_at);
  delete from outbox.conversation_window w where w.person_id = p_gone;
  perform outbox.audit(v_gone.org_id, 'PERSON', p_keep::text, 'JOINED',
    pg_catalog.format('Joined with person %s', p_gone), null, p_now);
end
$$;
comment on function outbox.join_two(bigint, bigint, timestamptz) is
  'Makes the person p_gone part of p_keep, with the stricter opt-outs, the later windows and both '
  'lane keys, and audits it. locks: the caller holds both people.';

create function outbox.copy_opt_outs(
  p_org_id text, p_from bigint, p_to bigint
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- An opt-out wins, whichever time is later. The later time is kept, so that an older callback
  -- cannot lift it.
  insert into outbox.opt_out as o (org_id, channel, person_id, purpose, source, evidence, wamid,
    words, lifted, said_at, decided_at, created_at, said_by)
  select f.org_id, f.channel, p_to, f.purpose, f.source, f.evidence, f.wamid, f.words, f.lifted,
    f.said_at, f.decided_at, f.created_at, f.said_by
  from outbox.opt_out f
  where f.org_id = p_org_id and f.person_id = p_from
  order by f.channel, f.purpose
  on conflict (org_id, channel, person_id, purpose) do update set
    (source, evidence, wamid, words, lifted, said_at, created_at) = (
      select s.source, s.evidence, s.wamid, s.words, s.lifted, s.said_at, s.created_at
      from (
        values (o.source, o.evidence, o.wamid, o.words, o.lifted, o.said_at, o.created_at),
          (excluded.source, excluded.evidence, excluded.wamid, excluded.words, excluded.lifted,
            excluded.said_at, excluded.created_at)
      ) as s (source, evidence, wamid, words, lifted, said_at, created_at)
      order by s.lifted, s.said_at desc limit 1),
    -- If both have opted out, the START of one does not lift it.
    said_by = case
      when o.lifted <> excluded.lifted
      then case when o.lifted then excluded.said_by else o.said_by end
      when o.said_by = excluded.said_by then o.said_by
    end,
    decided_at = greatest(o.decided_at, excluded.decided_at);
end
$$;
comment on function outbox.copy_opt_outs(text, bigint, bigint) is
  'Gives a person the opt-outs of another, where they are stricter. locks: the caller holds both '
  'people.';

create function outbox.touch_people(
  p_linked outbox.linked_identifier[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update outbox.person_identifier i set value = x.value
  from (
    select h.row_at, pg_catalog.min(x.value) as value from pg_catalog.unnest(p_linked) x
    cross join lateral (
      select o.ctid as row_at from outbox.person_identifier o
      where o.org_id = x.org_id and o.value = x.hash offset 0
    ) h
    where not exists (select from outbox.people_with(x.org_id, x.value, null))
    group by h.row_at
  ) x
  where i.ctid = x.row_at;
  update outbox.person p set
    last_seen_at = greatest(p.last_seen_at, p_now), erased_at = null,
    lane_keys = p.lane_keys || array(
      select k from pg_catalog.unnest(s.keys) k where k <> all (p.lane_keys))
  from (
    select w.person_id, coalesce(pg_catalog.array_agg(distinct pg_catalog.ltrim(x.hash, '#'))
      filter (where x.value like '+%'), '{}') as keys
    from pg_catalog.unnest(p_linked) x
    cross join lateral outbox.people_with(x.org_id, x.value, x.hash) w
    group by w.person_id
  ) s
  cross join lateral (
    select o.ctid as row_at from outbox.person o where o.id = s.person_id offset 0
  ) h
  where p.ctid = h.row_at;
end
$$;
comment on function outbox.touch_people(outbox.linked_identifier[], timestamptz) is
  'Records that something was heard of the people of the links, restores the identifiers of erased '
  'ones, and adds their lane keys. locks: the caller holds the people.';
