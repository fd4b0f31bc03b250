-- The audit trail of all modules. The module messages had a table of its own, whose rows stay and
-- which gets two more indexes; without the module the table is new.
create table if not exists outbox.audit_event (
  id bigint generated always as identity primary key,
  org_id text not null,
  entity_type text not null,
  entity_id text not null,
  action text not null,
  details text not null,
  actor text,
  created_at timestamptz not null,
  correlation_id text
);
alter table outbox.audit_event alter column org_id drop not null, add column data jsonb;
comment on table outbox.audit_event is
  'Who did what to an endpoint, a delivery, a message or another object, or what happened to it. A '
  'row is inserted in the transaction of the change and never updated. It has no secret and no '
  'payload, and identifies people only by ids of the application or by a hash of their number. '
  'org_id: null for what concerns all organisations. correlation_id is that of the message, if the '
  'row is about one that has one, or that was refused. data: more about an action that '
  'note_action() recorded, which is deleted after audit.retention_days; null in all other rows.';
create index if not exists audit_event_entity
  on outbox.audit_event (org_id, entity_type, entity_id, id);
create index if not exists audit_event_org on outbox.audit_event (org_id, id);
create index if not exists audit_event_action on outbox.audit_event (org_id, action, id);
create index if not exists audit_event_correlation
  on outbox.audit_event (org_id, correlation_id, id) where correlation_id is not null;
create index audit_event_actor on outbox.audit_event (org_id, pg_catalog.left(actor, 200), id)
  where actor is not null;
create index audit_event_age on outbox.audit_event (created_at) where data is not null;

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('audit.retention_days', '400', 'integer', 30, 3650,
    'After how many days the audit trail forgets actions on endpoints, secrets, deliveries, replay '
    'jobs, portal tokens, event types and settings; rows about messages and people stay');
insert into outbox.cleanup_step (name, calls) values
  ('actions', 'outbox.forget_actions');
