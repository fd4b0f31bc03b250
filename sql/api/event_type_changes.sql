-- The history of the catalogue: who changed which event type, and what a receiver notices of it. A
-- row is inserted in the transaction of its change. Instead of both schemas, which may have 64 KiB
-- each, it has the names of the members that were added, removed or changed. The newest 100 changes
-- of a type are kept, and the newest event_type.changes_kept of an organisation (and up to 1 %
-- more, at most 100), each for two years.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('event_type.changes_kept', '10000', 'integer', 100, 1000000, true,
    'How many changes of its event types an organisation keeps; the oldest ones are deleted');

create table outbox.event_type_change (
  id bigint generated always as identity primary key,
  org_id text not null,
  type text not null,
  action text not null
    constraint event_type_change_action_is_known
    check (action in ('CREATED', 'CHANGED', 'DELETED')),
  difference jsonb not null,
  actor text,
  created_at timestamptz not null
);
comment on table outbox.event_type_change is
  'The changes of event types. difference: type_difference() of the type before and after. actor: '
  'who did it, as far as the function api knows the caller; null in SQL.';
create index event_type_change_type on outbox.event_type_change (org_id, type, id);
create index event_type_change_org on outbox.event_type_change (org_id, id);
create index event_type_change_age on outbox.event_type_change (created_at);

create function outbox.schema_members(p_schema jsonb) returns table (name text, rule jsonb)
language plpgsql immutable set search_path = ''
as $$
declare
  -- A schema has 65,536 characters at most, but each name contains the names above it.
  v_most_levels constant integer := 8;
  v_longest constant integer := 200;
begin
  return query
  with recursive node (name, needed, rule, level) as (
    select '', false, p_schema, 0
    union all
    select c.name, c.needed, c.rule, n.level + 1
    from node n
    cross join lateral (
      select case when n.name = '' then m.key else n.name || '.' || m.key end as name,
        coalesce((n.rule -> 'required') operator(pg_catalog.?) m.key, false) as needed,
        m.value as rule
      from pg_catalog.jsonb_each(
        case pg_catalog.jsonb_typeof(n.rule -> 'properties')
          when 'object' then n.rule -> 'properties' else '{}' end) m
      union all
      select n.name || '[]', false, n.rule -> 'items'
      where pg_catalog.jsonb_typeof(n.rule -> 'items') = 'object'
    ) c
    where n.level < v_most_levels and pg_catalog.length(c.name) <= v_longest
  )
  select n.name, pg_catalog.jsonb_build_array(n.needed,
    case pg_catalog.jsonb_typeof(n.rule)
      when 'object' then n.rule - array['required', k.members, k.items] || k.required
      else n.rule end)
  from node n
  cross join lateral (
    select case when n.level < v_most_levels
        and pg_catalog.jsonb_typeof(n.rule -> 'properties') = 'object' then 'properties' end
        as members,
      case when n.level < v_most_levels
        and pg_catalog.jsonb_typeof(n.rule -> 'items') = 'object' then 'items' end as items
  ) l
  cross join lateral (
    -- Of the required names, those of listed members are the rule of the member.
    select l.members, l.items, pg_catalog.jsonb_build_object('required',
      case when pg_catalog.jsonb_typeof(n.rule -> 'required') = 'array' then (
        select pg_catalog.jsonb_agg(distinct r)
        from pg_catalog.jsonb_array_elements(n.rule -> 'required') r
        where l.members is null
          or not (n.rule -> 'properties') operator(pg_catalog.?) (r #>> '{}'))
      else n.rule -> 'required' end) as required
  ) k;
end
$$;
comment on function outbox.schema_members(jsonb) is
  'The members of the payload that a JSON Schema lists: the name, such as items[].sku, and what '
  'the schema says of the member itself. The row with the name '''' is what it says of the whole '
  'payload: additionalProperties, $defs and the like. Members below the eighth level, '
  'or with a name of more than 200 characters, are missing.';

create function outbox.type_difference(
  p_before outbox.event_type, p_after outbox.event_type
) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_most constant integer := 50;
  v_result jsonb;
begin
  with before as (
    select m.name, pg_catalog.min(m.rule::text) as rule
    from outbox.schema_members(p_before.schema::jsonb) m
    group by m.name
  ), after as (
    select m.name, pg_catalog.min(m.rule::text) as rule
    from outbox.schema_members(p_after.schema::jsonb) m
    group by m.name
  ), difference as (
    select coalesce(a.name, b.name) as name,
      case when b.name is null then 'added' when a.name is null then 'removed' else 'changed' end
        as kind
    from before b full join after a on a.name = b.name
    where a.rule is distinct from b.rule
  ), numbered as (
    select d.name, d.kind,
      pg_catalog.row_number() over (order by d.name = '', d.kind desc, d.name collate "C") as n
    from difference d
  )
  select pg_catalog.jsonb_build_object(
    'description', p_before.description is distinct from p_after.description,
    'schema', p_before.schema::jsonb is distinct from p_after.schema::jsonb,
    'otherRules', coalesce(p_before.schema::jsonb <> p_after.schema::jsonb
      and (pg_catalog.count(*) = 0 or pg_catalog.bool_or(d.name = '')), false),
    'added', coalesce(pg_catalog.jsonb_agg(d.name order by d.n)
      filter (where d.kind = 'added' and d.n <= v_most and d.name <> ''), '[]'),
    'removed', coalesce(pg_catalog.jsonb_agg(d.name order by d.n)
      filter (where d.kind = 'removed' and d.n <= v_most and d.name <> ''), '[]'),
    'changed', coalesce(pg_catalog.jsonb_agg(d.name order by d.n)
      filter (where d.kind = 'changed' and d.n <= v_most and d.name <> ''), '[]'),
    'more', greatest(0, pg_catalog.count(*) filter (where d.name <> '') - v_most))
  into v_result
  from numbered d;
  return v_result;
end
$$;
comment on function outbox.type_difference(outbox.event_type, outbox.event_type) is
  'What differs between an event type before and after a change: {"description", "schema": whether '
  'it differs, "otherRules": whether it differs in what is said of no listed member, "added", '
  '"removed", "changed": names of members of the payload, together 50 at '
  'most, "more": how many names are left out}.';

create function outbox.record_type_change(
  p_before outbox.event_type, p_after outbox.event_type, p_actor text
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_kept constant integer := 100;
  v_org_id text := coalesce(p_after.org_id, p_before.org_id);
  v_type text := coalesce(p_after.type, p_before.type);
  v_difference jsonb := outbox.type_difference(p_before, p_after);
  v_kept_by_org bigint := outbox.org_setting_int(v_org_id, 'event_type.changes_kept');
  -- Every so many changes, the old ones of the organisation are deleted.
  v_period bigint := least(100, greatest(1, v_kept_by_org / 100));
  v_changes bigint;
  v_last bigint;
begin
  if p_before.type is not null and p_after.type is not null
    and not (v_difference ->> 'description')::boolean and not (v_difference ->> 'schema')::boolean
  then
    return;
  end if;
  update outbox.event_catalogue c set changes = c.changes + 1
  where c.org_id = v_org_id
  returning c.changes into v_changes;
  insert into outbox.event_type_change (org_id, type, action, difference, actor, created_at)
  values (v_org_id, v_type,
    case when p_before.type is null then 'CREATED' when p_after.type is null then 'DELETED'
      else 'CHANGED' end,
    v_difference, pg_catalog.left(p_actor, 200), outbox.clock());
  perform outbox.note_action(v_org_id, 'EVENT_TYPE', v_type,
    case when p_before.type is null then 'CREATED' when p_after.type is null then 'DELETED'
      else 'CHANGED' end, 'Event type of the catalogue');
  delete from outbox.event_type_change c
  where c.org_id = v_org_id and c.type = v_type and c.id <= (
    select o.id from outbox.event_type_change o
    -- The range of one value leaves one index for the order.
    where o.org_id = v_org_id and o.type >= v_type and o.type <= v_type
    order by o.type desc, o.id desc
    offset v_kept limit 1);
  -- It counts the rows that are kept, not c.changes: a type that changes often keeps only 100 rows,
  -- and must not push out those of other types. Counting reads all rows of the organisation, so it
  -- is done rarely.
  if v_changes % v_period = 0 then
    select o.id into v_last
    from outbox.event_type_change o
    where o.org_id >= v_org_id and o.org_id <= v_org_id
    order by o.org_id desc, o.id desc
    offset v_kept_by_org limit 1;
    -- Ten times as many as were recorded since the last time, so that a lowered setting is reached.
    delete from outbox.event_type_change c
    where c.id <= v_last and c.id = any (array(
      select o.id from outbox.event_type_change o
      where o.org_id >= v_org_id and o.org_id <= v_org_id
      order by o.org_id, o.id
      limit 10 * v_period));
  end if;
end
$$;
comment on function outbox.record_type_change(outbox.event_type, outbox.event_type, text) is
  'Records that an event type was created (p_before is null), changed or deleted (p_after is '
  'null). A change that changes nothing is not recorded. Deletes what is no longer kept: the '
  'oldest of the type above 100, and at every 100th change (more often if event_type.changes_kept '
  'is below 10,000) those of the organisation above this number. The caller holds the row of the '
  'catalogue.';

create function outbox.list_event_type_changes(
  p_org_id text, p_event_type text default null, p_cursor text default null,
  p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below bigint := coalesce(
    outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807);
  v_changes outbox.event_type_change[];
begin
  perform outbox.check_page(p_limit);
  if p_event_type is null then
    v_changes := array(
      select c from outbox.event_type_change c
      where (c.org_id, c.id) < (p_org_id, v_below) and c.org_id >= p_org_id
      order by c.org_id desc, c.id desc
      limit p_limit + 1);
  else
    v_changes := array(
      select c from outbox.event_type_change c
      -- The range of one value leaves one index for the order. A type has few rows: the id is only
      -- a filter.
      where c.org_id = p_org_id and c.type >= p_event_type and c.type <= p_event_type
        and c.id < v_below
      order by c.type desc, c.id desc
      limit p_limit + 1);
  end if;
  return pg_catalog.jsonb_build_object(
    'data', coalesce(
      (
        select pg_catalog.jsonb_agg(
          pg_catalog.jsonb_build_object('id', c.id::text, 'type', c.type, 'action', c.action,
            'actor', c.actor, 'at', outbox.iso_time(c.created_at)) || c.difference
          order by c.id desc)
        from pg_catalog.unnest(v_changes[1:p_limit]) c
      ), '[]'),
    'nextCursor', case
      when pg_catalog.cardinality(v_changes) > p_limit
      then outbox.key_to_cursor(v_changes[p_limit].id::text)
    end);
end
$$;
comment on function outbox.list_event_type_changes(text, text, text, integer) is
  'The changes of the event types of an organisation, or of one type, newest first: {"data": '
  '[{"id", "type", "action": CREATED, CHANGED or DELETED, "actor", "at", and the members of '
  'type_difference()}], "nextCursor"}. OH001.';

create function outbox.remove_type_changes(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.remove_type_changes', 'outbox.event_type_change',
    'delete from outbox.event_type_change c where c.ctid = any ($1) '
      'and c.created_at < $2 - interval ''2 years''',
    array(
      select o.ctid from outbox.event_type_change o
      where o.created_at < p_now - interval '2 years' order by o.created_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.remove_type_changes(timestamptz, integer) is
  'Deletes up to p_limit changes of event types that are older than two years; returns how many.';

insert into outbox.cleanup_step (name, calls) values
  ('type_changes', 'outbox.remove_type_changes');
