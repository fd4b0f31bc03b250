-- The limit of the audit trail. Nothing that was written before counts.
create table outbox.audit_count (
  org_id text not null,
  slot uuid not null default pg_catalog.gen_random_uuid(),
  day date not null,
  n integer not null,
  primary key (org_id, slot)
) with (fillfactor = 50);
comment on table outbox.audit_count is
  'How many rows the tokens of an organisation left in the audit trail on that day (UTC), added up '
  'over its slots: each of several writes at once has its own.';
insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.audit_rows_per_day', '10000', 'integer', 1, 10000000, true,
    'How many rows the tokens of an organisation may leave in the audit trail in a day (UTC); what '
    'stops or protects something is refused to tokens of users at twice as many; secret keys and '
    'SQL have no limit');
