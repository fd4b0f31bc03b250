-- The catalogue of event types moves with its organisation (moves/move_part). The history of its
-- changes stays, and so do portal tokens, which the functions of each project sign, and the stored
-- responses of requests with an idempotency key.

insert into outbox.move_part (name, position, read_function, write_function, page_rows) values
  ('event_catalogue', 2, 'outbox.read_moved_catalogue', 'outbox.write_moved_catalogue', 1),
  ('event_type', 3, 'outbox.read_moved_types', 'outbox.write_moved_types', 500);
insert into outbox.move_part (name) values
  ('event_type_change'), ('portal_token_count'), ('portal_generation'), ('revoked_portal_token'),
  ('request_key'), ('request_bucket');

create trigger event_catalogue_was_moved
  before insert or update or delete on outbox.event_catalogue
  for each row execute function outbox.keep_moved();
create trigger event_type_was_moved
  before insert or update or delete on outbox.event_type
  for each row execute function outbox.keep_moved();

create function outbox.read_moved_catalogue(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select 'catalogue', pg_catalog.jsonb_build_object('strict', c.strict, 'version', c.version,
    'changes', c.changes)
  from outbox.event_catalogue c
  where c.org_id = p_org_id and p_after < 'catalogue' and coalesce(p_upto, 'z') >= 'catalogue'
  limit p_limit;
end
$$;
comment on function outbox.read_moved_catalogue(text, text, text, integer) is
  'Whether the catalogue is strict, and its version, which the API compares with its copy.';

create function outbox.write_moved_catalogue(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql set search_path = ''
as $$
begin
  delete from outbox.event_catalogue c
  where c.org_id = p_org_id and p_after < 'catalogue' and coalesce(p_upto, 'z') >= 'catalogue';
  insert into outbox.event_catalogue (org_id, strict, version, changes)
  select p_org_id, (i #>> '{item,strict}')::boolean, (i #>> '{item,version}')::bigint,
    (i #>> '{item,changes}')::bigint
  from pg_catalog.jsonb_array_elements(p_items) i;
end
$$;
comment on function outbox.write_moved_catalogue(text, text, text, jsonb) is
  'The write_function of the catalogue (see move_part).';

create function outbox.read_moved_types(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  -- The schema as text: jsonb would change its form.
  select t.type, pg_catalog.jsonb_build_object('description', t.description,
    'schema', t.schema::text, 'created_at', t.created_at, 'updated_at', t.updated_at)
  from outbox.event_type t
  where t.org_id = p_org_id and t.type collate "C" > p_after
    and (p_upto is null or t.type collate "C" <= p_upto)
  order by t.type collate "C"
  limit p_limit;
end
$$;
comment on function outbox.read_moved_types(text, text, text, integer) is
  'The event types of the catalogue.';

create function outbox.write_moved_types(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql set search_path = ''
as $$
begin
  delete from outbox.event_type t
  where t.org_id = p_org_id and t.type collate "C" > p_after
    and (p_upto is null or t.type collate "C" <= p_upto);
  insert into outbox.event_type (org_id, type, description, schema, created_at, updated_at)
  select p_org_id, i ->> 'key', i #>> '{item,description}', (i #>> '{item,schema}')::json,
    (i #>> '{item,created_at}')::timestamptz, (i #>> '{item,updated_at}')::timestamptz
  from pg_catalog.jsonb_array_elements(p_items) i;
end
$$;
comment on function outbox.write_moved_types(text, text, text, jsonb) is
  'The write_function of event types (see move_part).';
