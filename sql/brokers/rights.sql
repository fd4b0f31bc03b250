-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.create_slack_endpoint(text, text[], text, text, jsonb, text),
  outbox.set_slack_url(uuid, text, jsonb),
  outbox.create_broker_endpoint(text, jsonb, jsonb, text[], text, text, text, text, jsonb, text),
  outbox.set_broker(uuid, jsonb, jsonb, jsonb)
to service_role;
