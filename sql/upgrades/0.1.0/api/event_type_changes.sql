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

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('event_type.changes_kept', '10000', 'integer', 100, 1000000, true,
    'How many changes of its event types an organisation keeps; the oldest ones are deleted');
alter table outbox.event_catalogue add column changes bigint not null default 0;
comment on table outbox.event_catalogue is
  'strict: whether the API rejects events with types that are not in the catalogue of the '
  'organisation. version increases with each change of the catalogue. changes counts the '
  'changes of event types that were ever recorded, also those that are deleted.';

insert into outbox.cleanup_step (name, calls) values
  ('type_changes', 'outbox.remove_type_changes');
