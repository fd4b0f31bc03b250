-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.create_endpoint(
    text, text[], text, text, text, jsonb, text, integer, text, integer, integer, jsonb,
    double precision, text),
  outbox.set_headers(uuid, jsonb),
  outbox.rotate_secret(uuid, text, interval),
  outbox.expire_secret(uuid),
  outbox.read_secret(uuid),
  outbox.subscribe(uuid, text[], text),
  outbox.pause_endpoint(uuid, text),
  outbox.resume_endpoint(uuid),
  outbox.disable_endpoint(uuid, text),
  outbox.delete_endpoint(uuid),
  outbox.send_test_event(uuid),
  outbox.calculate_delay(jsonb, integer),
  outbox.is_retryable(text, integer, text, text),
  outbox.preview_schedule(jsonb),
  outbox.retry_preset(text)
to service_role;
grant select on
  outbox.endpoint, outbox.endpoint_kind, outbox.subscription, outbox.ended_subscription,
  outbox.failure_rule
to service_role;
