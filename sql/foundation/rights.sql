-- Each folder grants its own rights in a file like this one. service_role calls the public
-- functions and reads the tables and views named here. anon and authenticated have no right.

select outbox.close_new();

grant usage on schema outbox to service_role;
grant execute on function
  outbox.version(),
  outbox.set_setting(text, jsonb)
to service_role;
grant select on outbox.setting, outbox.upkeep_refusal to service_role;
