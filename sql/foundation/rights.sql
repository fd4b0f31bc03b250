-- Each folder grants its own rights in a file like this one. service_role calls the public
-- functions and reads the tables and views named here. anon and authenticated have no right.

select outbox.close_new();

grant usage on schema outbox to service_role;
grant execute on function
  outbox.version(),
  outbox.set_setting(text, jsonb),
  outbox.set_org_setting(text, text, jsonb)
to service_role;
grant select on outbox.setting, outbox.org_setting, outbox.upkeep_refusal, outbox.audit_event,
  outbox.audit_count
to service_role;
