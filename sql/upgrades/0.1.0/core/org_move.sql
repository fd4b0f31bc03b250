-- The moves of organisations. The trigger functions are replaced by their real bodies after the
-- steps.

create table outbox.org_move (
  org_id text primary key,
  move_id uuid not null,
  role text not null constraint org_move_role_is_known check (role in ('source', 'target')),
  status text not null,
  other text not null,
  other_database text,
  run_id uuid,
  endpoints jsonb not null default '{}',
  settled_at xid8,
  started_at timestamptz not null,
  changed_at timestamptz not null,
  constraint org_move_status_is_known check (
    status in ('copying', 'closed', 'moved', 'finished') and role = 'source'
    or status in ('receiving', 'live', 'undone') and role = 'target'
  )
);
comment on table outbox.org_move is
  'The last move of an organisation to or from another project. other: the name of that project; '
  'other_database: its database_id(); run_id: the run of the command that may take the next step; '
  'endpoints: {id: {"status", "reason"}} of endpoints that the move has paused; settled_at: the '
  'transactions below it were open after the last change of status, and must end before the next '
  'step.';

create function outbox.keep_moved() returns trigger
language plpgsql set search_path = ''
as $$
begin
  return new;
end
$$;
create trigger org_setting_was_moved
  before insert or update or delete on outbox.org_setting
  for each row execute function outbox.keep_moved();
create trigger endpoint_was_moved
  before update or delete on outbox.endpoint
  for each row when (old.status <> 'deleted')
  execute function outbox.keep_moved();
create trigger subscription_was_moved
  before insert or update or delete on outbox.subscription
  for each row execute function outbox.keep_moved();

create function outbox.keep_secret_moved() returns trigger
language plpgsql set search_path = ''
as $$
begin
  return new;
end
$$;
create trigger endpoint_secret_was_moved
  before insert or update on outbox.endpoint_secret
  for each row execute function outbox.keep_secret_moved();

create function outbox.keep_moving() returns trigger
language plpgsql set search_path = ''
as $$
begin
  return new;
end
$$;
create trigger endpoint_waits_for_move
  before insert or update of status on outbox.endpoint
  for each row when (new.status = 'enabled')
  execute function outbox.keep_moving();

comment on table outbox.event_bytes is
  'The bytes of the payloads that were routed on that day (UTC), of organisations, while one of '
  'them has a limit. spent_until: the end of the day if they reach its limit; infinity: see '
  'close_publishing().';

create table outbox.move_part (
  name text primary key,
  position integer unique,
  read_function text constraint move_part_read_is_a_name check (
    read_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
  ),
  write_function text constraint move_part_write_is_a_name check (
    write_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
  ),
  page_rows integer,
  constraint move_part_is_whole check (
    pg_catalog.num_nulls(position, read_function, write_function, page_rows) in (0, 4)
  )
);
comment on table outbox.move_part is
  'What becomes of the tables with rows of organisations if one moves. With a position: they move, '
  'in this order. Without: their rows move together with another part, or stay, such as history. '
  'An organisation with rows in any other table cannot move. read_function: the organisation, the '
  'key before the page, its last key (null: none), the most rows; returns (key, item). '
  'write_function: the organisation, both keys, [{"key", "item"}]; makes this range equal to them.';

insert into outbox.move_part (name, position, read_function, write_function, page_rows) values
  ('org_setting', 1, 'outbox.read_moved_settings', 'outbox.write_moved_settings', 500),
  ('endpoint', 4, 'outbox.read_moved_endpoints', 'outbox.write_moved_endpoints', 100),
  ('event', 5, 'outbox.read_moved_events', 'outbox.write_moved_events', 500),
  ('lane', 6, 'outbox.read_moved_lanes', 'outbox.write_moved_lanes', 2000),
  ('dead_letter', 7, 'outbox.read_moved_letters', 'outbox.write_moved_letters', 500),
  ('idempotency_key', 8, 'outbox.read_moved_keys', 'outbox.write_moved_keys', 20000);
insert into outbox.move_part (name) values
  ('subscription'), ('ended_subscription'), ('gate'), ('unrouted'), ('waiting_part'),
  ('unroutable'), ('limit_turn'), ('event_bytes'), ('replay_job'),
  ('delivered_mark'), ('org_move'), ('audit_event'), ('audit_count');

create type outbox.moved_delivery as (
  event_id uuid,
  endpoint_id uuid,
  gate_id bigint,
  ordered boolean,
  key_hash bigint,
  body_bytes integer,
  due_at timestamptz,
  attempt integer,
  failed_attempts integer,
  replayed_at timestamptz,
  deliver_at timestamptz,
  secret_id uuid,
  rejected_secrets uuid[],
  lost_before integer,
  lost_leases integer
);
comment on type outbox.moved_delivery is 'A delivery that arrives, and the lane for it.';
