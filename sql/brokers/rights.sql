-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.create_slack_endpoint(text, text[], text, text, jsonb, text),
  outbox.set_slack_url(uuid, text, jsonb),
  outbox.create_broker_endpoint(text, jsonb, jsonb, text[], text, text, text, text, jsonb, text),
  outbox.set_broker(uuid, jsonb, jsonb, jsonb),
  outbox.claim_broker_replay(uuid, uuid, text, text, text),
  outbox.record_broker_replay(uuid, uuid, boolean)
to service_role;

-- The module brokers ends here.
select outbox.record_module('brokers');
