-- The audit trail: who did what. A row is inserted by the function that makes the change, in its
-- transaction, so neither exists without the other and no caller can forget it. What runs do
-- (publish, claim, results) writes none. A replay job is one row, however many deliveries it
-- creates. The module messages adds its own rows, which are evidence and stay.

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('audit.retention_days', '400', 'integer', 30, 3650,
    'After how many days the audit trail forgets actions on endpoints, secrets, deliveries, replay '
    'jobs, portal tokens, event types and settings; rows about messages and people stay');

create table outbox.audit_event (
  id bigint generated always as identity primary key,
  org_id text,
  entity_type text not null,
  entity_id text not null,
  action text not null,
  details text not null,
  actor text,
  created_at timestamptz not null,
  correlation_id text,
  data jsonb
);
comment on table outbox.audit_event is
  'Who did what to an endpoint, a delivery, a message or another object, or what happened to it. A '
  'row is inserted in the transaction of the change and never updated. It has no secret and no '
  'payload, and identifies people only by ids of the application or by a hash of their number. '
  'org_id: null for what concerns all organisations. correlation_id is that of the message, if the '
  'row is about one that has one, or that was refused. data: more about an action that '
  'note_action() recorded, which is deleted after audit.retention_days; null in all other rows.';
create index audit_event_entity on outbox.audit_event (org_id, entity_type, entity_id, id);
create index audit_event_org on outbox.audit_event (org_id, id);
create index audit_event_action on outbox.audit_event (org_id, action, id);
create index audit_event_correlation on outbox.audit_event (org_id, correlation_id, id)
  where correlation_id is not null;
-- A message may have an actor of any length, and the row of an index has 2,700 bytes.
create index audit_event_actor on outbox.audit_event (org_id, pg_catalog.left(actor, 200), id)
  where actor is not null;
create index audit_event_age on outbox.audit_event (created_at) where data is not null;

create function outbox.current_actor() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_headers text := pg_catalog.current_setting('request.headers', true);
  v_actor text := nullif(pg_catalog.current_setting('outhook.actor', true), '');
begin
  if v_actor is null then
    v_actor := case
      when coalesce(v_headers, '') = '' then 'sql:' || session_user
      -- Whoever has a secret key may name a person. A function of the application that a user calls
      -- over the Data API gets the headers of this user, who may not.
      when outbox.caller_role() = 'service_role' then coalesce(
        -- Not parsed as JSON, because an invalid setting of that name must not fail a change.
        pg_catalog.substring(v_headers, '"x-outhook-actor" *: *"([!#-\[\]-~]+)"'), 'service')
      else coalesce(outbox.token_actor(), 'sql:' || outbox.caller_role())
    end;
  end if;
  return pg_catalog.left(v_actor, 200);
end
$$;
comment on function outbox.current_actor() is
  'Who calls, for the audit trail, up to 200 characters: the setting outhook.actor; of a request '
  'with a secret key its header x-outhook-actor, if it has only visible ASCII without quotes and '
  'backslashes, which the function api sends (key:default, user:<id>, portal:<subject>), else '
  'service; of a request with a token user:<id>; and sql:<role> for a database connection.';

create function outbox.token_actor() returns text
language plpgsql stable set search_path = ''
as $$
begin
  -- Only the outermost sub is from Auth: users write their user_metadata, which may have another.
  return 'user:'
    || (pg_catalog.current_setting('request.jwt.claims', true)::jsonb ->> 'sub');
exception when data_exception then
  return null;
end
$$;
comment on function outbox.token_actor() is
  'user:<id> of the token with which a request over the Data API was sent; null without an id.';

create function outbox.note_action(
  p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text,
  p_data jsonb default '{}'
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.count_action(p_org_id, p_action);
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at, data)
  values (p_org_id, p_entity_type, p_entity_id, p_action, pg_catalog.left(p_details, 500),
    outbox.current_actor(), outbox.clock(), pg_catalog.jsonb_strip_nulls(p_data));
end
$$;
comment on function outbox.note_action(text, text, text, text, text, jsonb) is
  'Records an action of current_actor() in the audit trail. Neither p_details nor p_data may have '
  'a secret, a payload or a header value; names of changed members are enough. OH011: see '
  'limit.audit_rows_per_day.';

create function outbox.note_setting(
  p_org_id text, p_name text, p_value jsonb, p_was jsonb
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_action(p_org_id, 'SETTING', p_name, 'CHANGED',
    case when p_value is null then 'Own value of a setting removed' else 'Setting changed' end,
    pg_catalog.jsonb_build_object(
      'value', case
        when pg_catalog.jsonb_typeof(p_value) in ('number', 'boolean') then p_value
      end,
      'was', case when pg_catalog.jsonb_typeof(p_was) in ('number', 'boolean') then p_was end));
end
$$;
comment on function outbox.note_setting(text, text, jsonb, jsonb) is
  'Records that a setting was changed. Of texts and lists, such as the URL of a proxy, it has no '
  'value: they may have a password.';

create function outbox.audit_event_json(p_row outbox.audit_event) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_row.id::text, 'entityType', p_row.entity_type, 'entityId', p_row.entity_id,
    'action', p_row.action, 'details', p_row.details, 'actor', p_row.actor,
    'correlationId', p_row.correlation_id, 'at', outbox.iso_time(p_row.created_at),
    'data', coalesce(p_row.data, '{}'));
end
$$;
comment on function outbox.audit_event_json(outbox.audit_event) is
  'A row of the audit trail in the form of the API: {"id", "entityType", "entityId", "action", '
  '"details", "actor", "correlationId", "at", "data"}.';

create function outbox.forget_actions(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
-- With the statistics of an empty table, the plan might read all rows to find that none is due.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
begin
  return outbox.change_rows('outbox.forget_actions', 'outbox.audit_event',
    'delete from outbox.audit_event x where x.ctid = any ($1)',
    array(
      select o.ctid from outbox.audit_event o
      where o.data is not null and o.created_at < p_now
        - pg_catalog.make_interval(days => outbox.setting_int('audit.retention_days'))
      order by o.created_at
      limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_actions(timestamptz, integer) is
  'Deletes up to p_limit rows of note_action() older than audit.retention_days; returns how many.';
