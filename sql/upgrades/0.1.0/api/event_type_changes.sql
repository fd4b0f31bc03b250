-- The history of the catalogue, which is empty at first.

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

insert into outbox.cleanup_step (name, calls) values
  ('type_changes', 'outbox.remove_type_changes');
