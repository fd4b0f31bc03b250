-- The rights of the core. service_role calls the public functions named here and reads the tables
-- and views named here. Only the owner writes tables. anon and authenticated have no right.

select outbox.close_new();

grant usage on schema outbox to service_role;
grant execute on function
  outbox.version(),
  outbox.recent_deliveries(text, integer),
  outbox.set_setting(text, jsonb),
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
  outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_raw(text, text, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_many(jsonb),
  outbox.calculate_delay(jsonb, integer),
  outbox.is_retryable(text, integer, text, text),
  outbox.preview_schedule(jsonb),
  outbox.schedule_retry(uuid, uuid, interval),
  outbox.retry_now(uuid, uuid),
  outbox.cancel_delivery(uuid, uuid, text),
  outbox.resume_lane(uuid, text),
  outbox.replay(uuid, uuid),
  outbox.replay_many(text, uuid, text, timestamptz, timestamptz, integer),
  outbox.set_replay_job(text, text),
  outbox.discard_dead_letter(uuid, uuid, text),
  outbox.route_again(uuid),
  outbox.get_metrics(),
  outbox.waiting(),
  outbox.problems(jsonb),
  outbox.last_tick_at(),
  outbox.gate_totals(),
  outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb)
to service_role;
grant execute on function outbox.retry_preset(text), outbox.uuid_v7_time(uuid) to service_role;
grant select on
  outbox.setting, outbox.event, outbox.event_default, outbox.unrouted, outbox.unroutable,
  outbox.routing_timeout, outbox.endpoint, outbox.subscription, outbox.gate, outbox.lane,
  outbox.delivery, outbox.attempt, outbox.attempt_default, outbox.dead_letter, outbox.refusal,
  outbox.endpoint_refusal, outbox.replay_job, outbox.failure_rule, outbox.error_hint, outbox.run,
  outbox.delivery_status, outbox.relay_status, outbox.webhook_outbox, outbox.saga_outbox,
  outbox.transaction_outbox, outbox.endpoint_status, outbox.queue_health
to service_role;
grant insert on outbox.webhook_outbox to service_role;
