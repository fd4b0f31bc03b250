-- The catalogue of event types of an organisation. It restricts only events that the API publishes,
-- and only if strict is true: an application that publishes in SQL knows its types. The function
-- `api` checks JSON Schema and caches the catalogue. In the call that publishes, it passes the
-- version of its copy, so the database detects an old copy.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.event_types', '1000', 'integer', 1, 10000, true,
    'How many event types the catalogue of an organisation may have; the API caches all of them');

create table outbox.event_catalogue (
  org_id text primary key,
  strict boolean not null default false,
  version bigint not null default 1,
  changes bigint not null default 0
);
comment on table outbox.event_catalogue is
  'strict: whether the API rejects events with types that are not in the catalogue of the '
  'organisation. version increases with each change of the catalogue. changes counts the '
  'changes of event types that were ever recorded, also those that are deleted.';

create table outbox.event_type (
  org_id text not null,
  type text not null,
  description text not null default '',
  schema json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, type)
);
comment on table outbox.event_type is
  'The event types of an organisation. schema is a JSON Schema of the payload, or null. Its type '
  'is json, not jsonb, to return the text unchanged.';

create function outbox.event_type_json(p_type outbox.event_type) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'type', p_type.type, 'description', p_type.description, 'schema', p_type.schema,
    'createdAt', outbox.iso_time(p_type.created_at),
    'updatedAt', outbox.iso_time(p_type.updated_at));
end
$$;
comment on function outbox.event_type_json(outbox.event_type) is
  'An event type in the form of the API: {"type", "description", "schema", "createdAt", '
  '"updatedAt"}.';

create function outbox.change_catalogue(p_org_id text, p_strict boolean default null) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_user_org(p_org_id);
  insert into outbox.event_catalogue as c (org_id, strict)
  values (p_org_id, coalesce(p_strict, false))
  on conflict (org_id) do update set
    strict = coalesce(p_strict, c.strict), version = c.version + 1;
end
$$;
comment on function outbox.change_catalogue(text, boolean) is
  'Records a change of the catalogue of an organisation. locks: its row, so that changes of one '
  'catalogue wait for each other.';

create function outbox.read_catalogue(
  p_org_id text, p_with_types boolean default true
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_strict boolean;
  v_version bigint;
begin
  select c.strict, c.version
  into v_strict, v_version
  from outbox.event_catalogue c
  where c.org_id = p_org_id;
  return pg_catalog.jsonb_build_object(
    'strict', coalesce(v_strict, false),
    'version', coalesce(v_version, 0)::text,
    'types', coalesce(
      (
        select pg_catalog.jsonb_object_agg(t.type, t.schema)
        from outbox.event_type t where t.org_id = p_org_id and p_with_types
      ), '{}'));
end
$$;
comment on function outbox.read_catalogue(text, boolean) is
  'The rules for publishing: {"strict", "version", "types": {type: schema or null}}. They may have '
  'several MiB; types is empty without p_with_types.';

create function outbox.set_catalogue(p_org_id text, p_strict boolean) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if p_strict is null then
    perform outbox.invalid('strict', 'is null', 'Expected true or false');
  end if;
  perform outbox.change_catalogue(p_org_id, p_strict);
  perform outbox.note_action(p_org_id, 'EVENT_CATALOGUE', 'catalogue', 'CHANGED',
    pg_catalog.format('Catalogue made %s', case when p_strict then 'strict' else 'open' end),
    pg_catalog.jsonb_build_object('strict', p_strict));
  return pg_catalog.jsonb_build_object('strict', p_strict);
end
$$;
comment on function outbox.set_catalogue(text, boolean) is
  'Sets whether the API rejects events whose type or payload the catalogue does not allow: '
  '{"strict"}. OH001.';

create function outbox.check_schema_size(p_org_id text, p_type text, p_schema json) returns void
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most constant integer := 65536;
  v_most_of_all constant bigint := 2097152;
  v_size integer := coalesce(pg_catalog.length(p_schema::text), 0);
begin
  if v_size > v_most then
    perform outbox.invalid('schema',
      pg_catalog.format('has %s characters, more than %s', v_size, v_most),
      'Leave out descriptions, or refer to each part once with $ref');
  end if;
  if v_size > 0 and v_size + (
    select coalesce(pg_catalog.sum(pg_catalog.length(t.schema::text)), 0)
    from outbox.event_type t where t.org_id = p_org_id and t.type <> p_type) > v_most_of_all
  then
    perform outbox.invalid('schema', pg_catalog.format(
        'would make the schemas of the organisation larger than %s characters', v_most_of_all),
      'Delete event types that are no longer used, or shorten their schemas');
  end if;
end
$$;
comment on function outbox.check_schema_size(text, text, json) is
  'Limits the schema of an event type to 65,536 characters, and all schemas of an organisation to '
  '2,097,152: each process of the API reads and compiles the whole catalogue of a strict '
  'organisation. locks: none; the caller holds the row of the catalogue. OH001.';

create function outbox.put_event_type(
  p_org_id text, p_type text, p_description text default '', p_schema json default null,
  p_create boolean default false, p_key text default null, p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_before outbox.event_type;
  v_type outbox.event_type;
  v_result jsonb := outbox.begin_request(p_org_id, 'POST /event-types', p_key,
    pg_catalog.jsonb_build_array(p_type, p_description, p_schema));
begin
  if v_result is not null then
    return v_result;
  end if;
  perform outbox.check_type(p_type);
  perform outbox.change_catalogue(p_org_id);
  perform outbox.check_schema_size(p_org_id, p_type, p_schema);
  select * into v_before from outbox.event_type t where t.org_id = p_org_id and t.type = p_type;
  if found and p_create then
    -- A repeat of the request that created it is no error.
    if v_before.description = coalesce(p_description, '')
      and v_before.schema::jsonb is not distinct from p_schema::jsonb
    then
      v_result := outbox.event_type_json(v_before);
      perform outbox.end_request(p_org_id, p_key, v_result);
      return v_result;
    end if;
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('event type %s already exists', p_type),
      hint = 'Change it with PUT, or use another name';
  end if;
  if not found then
    -- The row of the catalogue that change_catalogue() holds serves as the turn.
    perform outbox.check_limit(p_org_id, 'limit.event_types',
      (
        select pg_catalog.count(*) + 1 from outbox.event_type t where t.org_id = p_org_id
      ),
      'organisation ' || p_org_id, 'event types', 'Delete event types that are no longer used');
  end if;
  insert into outbox.event_type as t (org_id, type, description, schema, created_at, updated_at)
  values (p_org_id, p_type, coalesce(p_description, ''), p_schema, v_now, v_now)
  on conflict (org_id, type) do update set
    description = excluded.description, schema = excluded.schema, updated_at = excluded.updated_at
  returning t.* into v_type;
  perform outbox.record_type_change(v_before, v_type, p_actor);
  v_result := outbox.event_type_json(v_type);
  perform outbox.end_request(p_org_id, p_key, v_result);
  return v_result;
end
$$;
comment on function outbox.put_event_type(text, text, text, json, boolean, text, text) is
  'Adds an event type to the catalogue or replaces it. With p_create, an existing type with other '
  'content is rejected, and p_key is the Idempotency-Key. p_actor is recorded with the change. '
  'Returns {"type", "description", "schema", "createdAt", "updatedAt"}. OH001, OH004; OH010: the '
  'catalogue is full (limit.event_types).';

create function outbox.get_event_type(p_org_id text, p_type text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_type outbox.event_type;
begin
  select * into v_type from outbox.event_type t where t.org_id = p_org_id and t.type = p_type;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event type %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_type, 140))),
      hint = 'Use a name from the list of event types';
  end if;
  return outbox.event_type_json(v_type);
end
$$;
comment on function outbox.get_event_type(text, text) is
  'One event type: {"type", "description", "schema", "createdAt", "updatedAt"}. OH002.';

create function outbox.list_event_types(
  p_org_id text, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_after text := coalesce(outbox.cursor_to_key(p_cursor, '^[A-Za-z0-9_.-]+$'), '');
  v_types outbox.event_type[];
begin
  perform outbox.check_page(p_limit);
  v_types := array(
    select t from outbox.event_type t
    where t.org_id = p_org_id and t.type > v_after
    order by t.type
    limit p_limit + 1);
  return pg_catalog.jsonb_build_object(
    'data', coalesce(
      (
        select pg_catalog.jsonb_agg(outbox.event_type_json(t) order by t.type)
        from pg_catalog.unnest(v_types[1:p_limit]) t
      ), '[]'),
    'nextCursor', case
      when pg_catalog.cardinality(v_types) > p_limit
      then outbox.key_to_cursor(v_types[p_limit].type)
    end);
end
$$;
comment on function outbox.list_event_types(text, text, integer) is
  'The event types of an organisation by name: {"data", "nextCursor"}. OH001.';

create function outbox.delete_event_type(
  p_org_id text, p_type text, p_actor text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.get_event_type(p_org_id, p_type);
  v_type outbox.event_type;
begin
  perform outbox.change_catalogue(p_org_id);
  delete from outbox.event_type t where t.org_id = p_org_id and t.type = p_type
  returning t.* into v_type;
  if found then
    perform outbox.record_type_change(v_type, null, p_actor);
  end if;
  return v_result;
end
$$;
comment on function outbox.delete_event_type(text, text, text) is
  'Deletes an event type from the catalogue, but no events. p_actor is recorded with the change. '
  'Returns the deleted type. OH002.';
