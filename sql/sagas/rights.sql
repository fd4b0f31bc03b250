-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.define_saga(text, jsonb, boolean),
  outbox.drop_saga(text),
  outbox.execute_saga(text, jsonb, text, text, text),
  outbox.execute_org_saga(text, text, text, text, text, boolean, text),
  outbox.list_sagas(boolean),
  outbox.get_saga(text, boolean),
  outbox.get_saga_execution(text, uuid),
  outbox.begin_saga(text, jsonb, text, text),
  outbox.run_step(text, integer, text, jsonb),
  outbox.end_saga(text, text, jsonb)
to service_role;
grant select on outbox.saga, outbox.saga_step to service_role;

-- The module sagas ends here.
select outbox.record_module('sagas');
