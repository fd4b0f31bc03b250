create table outbox.delivered_mark (
  id bigint generated always as identity primary key,
  until_at timestamptz not null,
  org_id text,
  endpoint_id uuid,
  why text not null,
  started_by text not null,
  created_at timestamptz not null,
  routed boolean not null default false,
  at_endpoint uuid,
  left_until timestamptz,
  resume_at timestamptz not null default '-infinity',
  marked bigint not null default 0,
  finished_at timestamptz
);
-- The tick looks for an open one each second.
create index delivered_mark_open on outbox.delivered_mark (id) where finished_at is null;
comment on table outbox.delivered_mark is
  'The calls of mark_delivered(), which are stored for ever: until_at, org_id and endpoint_id are '
  'its arguments (null: all), started_by is the role that called. routed: the events of before the '
  'call have their deliveries; at_endpoint: the last endpoint that is finished in this pass; '
  'left_until: until when a delivery cannot be ended that this pass left out; resume_at: when the '
  'next pass begins; marked: how many deliveries were ended. finished_at is null while the job '
  'continues.';
