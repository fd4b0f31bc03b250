-- Whatever the order in which links and wishes come, they end in the same people with the same wishes.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(9);

create temporary table made as select channel() as a, template() as code;

-- Each order of three links of a chain and one wish: 4! orders, for a wish of each of the four identifiers.
create function orders(p_items text[]) returns setof text[] language sql as $$
  with recursive o (done, open) as (
    select array[]::text[], p_items
    union all
    select o.done || x, array_remove(o.open, x) from o cross join lateral unnest(o.open) x
  )
  select done from o where cardinality(open) = 0
$$;
create function chain(p_steps text[], p_n integer) returns text language plpgsql as $$
declare
  v_ids text[] := array['+541140' || lpad(p_n::text, 6, '0'), '+5491140' || lpad(p_n::text, 6, '0'), 'US.' || p_n, '+1202' || lpad(p_n::text, 7, '0')];
  v_step text;
begin
  foreach v_step in array p_steps loop
    if v_step like 'link %' then
      perform link(v_ids[substr(v_step, 6, 1)::integer], v_ids[substr(v_step, 7, 1)::integer]);
    else
      perform outbox.opt_out_recipient('default', v_ids[substr(v_step, 6, 1)::integer], 'test');
    end if;
  end loop;
  return format('%s people, %s', (select count(distinct outbox.find_person('default', outbox.identifier_of(i))) from unnest(v_ids) i),
    (select string_agg(distinct wants(i), ' or ') from unnest(v_ids) i));
end
$$;
create temporary table permutation as
select row_number() over ()::integer as n, o.steps from generate_series(1, 4) w
cross join lateral orders(array['link 12', 'link 23', 'link 34', 'wish ' || w]) as o (steps);
select is(count(*), 96::bigint, 'four links and wishes in every order, for each identifier') from permutation;
select is_empty('select steps, r from (select steps, chain(steps, n) as r from permutation) x where r <> ''1 people, ALL''', 'a chain is one person, who has opted out');
select is((select count(*) from outbox.person), 96::bigint, 'each chain is a person of its own');

-- Two wishes that contradict each other: the opt-out wins, whichever is later and whichever person is older.
create function contradict(p_n integer, p_first_out boolean, p_first_joined boolean) returns text language plpgsql as $$
declare
  v_a text := '+1303' || lpad(p_n::text, 7, '0');
  v_b text := 'US.303' || p_n;
begin
  perform outbox.opt_out_recipient('default', x, 'test') from unnest(array[v_a, v_b]) x;
  perform time_passes('1 second');
  perform outbox.opt_in_recipient('default', case when p_first_out then v_b else v_a end);
  perform case when p_first_joined then link(v_a, v_b) else link(v_b, v_a) end;
  return wants(v_a) || ' ' || wants(v_b);
end
$$;
select is_empty('select x from (select contradict(n, n % 2 = 0, n / 2 = 1) as x from generate_series(0, 3) n) y where x <> ''ALL ALL''', 'of two wishes the opt-out wins');
select is((outbox.opt_in_recipient('default', 'US.3030') -> 'isNew')::text || wants('+13030000000'), 'trueeverything', 'until it is lifted once, for both');

-- Windows: the later one, of each channel.
select outbox.open_window(a, link('+14040000001'), outbox.clock() - interval '2 hours'), outbox.open_window(a, link('US.404'), outbox.clock()) from made;
select link('+14040000001', 'US.404');
select is((select array_agg(expires_at - outbox.clock()) from outbox.conversation_window), array[interval '24 hours'], 'the later window counts');

-- Random links and wishes, compared with a count by hand: groups of names that are merged one by one. out_at and in_at are
-- the state of a group, and a late wish is one whose time is before the last decision.
create temporary table group_of (name text primary key, g integer);
create temporary table state (g integer primary key, out boolean, decided integer);
create function model(p_op text, p_a text, p_b text, p_at integer) returns void language plpgsql as $$
declare
  v_a integer;
  v_b integer;
begin
  insert into group_of select x, coalesce((select max(g) from group_of), 0) + r from unnest(array[p_a, p_b]) with ordinality u (x, r) where x is not null on conflict do nothing;
  select g into v_a from group_of where name = p_a;
  if p_op = 'link' then
    select g into v_b from group_of where name = p_b;
    if v_a <> v_b then
      update group_of set g = v_a where g = v_b;
      insert into state as s select v_a, x.out, x.decided from state x where x.g = v_b
      on conflict (g) do update set out = s.out or excluded.out, decided = greatest(s.decided, excluded.decided);
      delete from state where g = v_b;
    end if;
  else
    insert into state as s values (v_a, p_op = 'STOP', p_at)
    on conflict (g) do update set out = excluded.out, decided = excluded.decided
    where excluded.decided > s.decided or (excluded.decided = s.decided and excluded.out);
  end if;
end
$$;
select setseed(0.26);
create temporary table op as
select n, case when random() < 0.45 then 'link' when random() < 0.5 then 'STOP' else 'START' end as op,
  names[1 + floor(random() * 24)] as a, names[1 + floor(random() * 24)] as b, floor(random() * 30)::integer as at
from generate_series(1, 400) n,
  -- Numbers alone: a wish of one of several user ids is another matter (changed_hands).
  (select array(select '+1505' || lpad(i::text, 7, '0') from generate_series(1, 24) i) as names) x;
create temporary table difference (n integer, name text, found text, expected text);
do $$
declare
  o op;
  v_start timestamptz := outbox.clock();
begin
  for o in select * from op order by n loop
    -- Several sequences, each from nothing.
    if o.n % 40 = 1 then
      delete from group_of where true;
      delete from state where true;
      delete from outbox.opt_out where true;
      delete from outbox.person_identifier where true;
      delete from outbox.person where true;
    end if;
    perform model(o.op, o.a, case when o.op = 'link' then o.b end, o.at);
    if o.op = 'link' then
      perform link(o.a, o.b);
    else
      perform outbox.save_opt_outs(array[row('default', o.a, 'ALL', o.op = 'START', v_start + o.at * interval '1 s', 'test', null, null, null, null)::outbox.opt_out_change], outbox.clock());
    end if;
    insert into difference
    select o.n, x.name, x.found, x.expected from (
      select g.name, coalesce((select bool_or(not w.lifted) from outbox.opt_out w where w.person_id = i.person_id), false)::text as found, coalesce(s.out, false)::text as expected
      from group_of g left join state s using (g) join outbox.person_identifier i on i.value = g.name
      union all
      select 'people', (select count(*) from outbox.person)::text, count(distinct g)::text from group_of
      union all
      select 'members', count(*)::text, (select count(*) from group_of)::text from outbox.person_identifier
      union all
      select 'split', count(*)::text, '0' from group_of a join outbox.person_identifier x on x.value = a.name
        join group_of b on true join outbox.person_identifier y on y.value = b.name
      where (a.g = b.g) <> (x.person_id = y.person_id)) x
    where x.found <> x.expected;
  end loop;
end
$$;
select is_empty('select * from difference limit 5', '400 random links and wishes are what a count by hand says');
select ok((select count(*) from op where op = 'link') > 100 and (select count(*) from op where op = 'STOP') > 80 and (select count(*) from op where op = 'START') > 80, 'with enough of each');
select is((select count(*) from outbox.audit_event where entity_type = 'PERSON' and action = 'JOINED' and details !~ '^Joined with person [0-9]+$'), 0::bigint, 'each join is audited');

select * from finish();
rollback;
