-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.recent_deliveries(text, integer),
  outbox.schedule_retry(uuid, uuid, interval),
  outbox.retry_now(uuid, uuid),
  outbox.cancel_delivery(uuid, uuid, text),
  outbox.resume_lane(uuid, text),
  outbox.replay(uuid, uuid),
  outbox.replay_many(text, uuid, text, timestamptz, timestamptz, integer),
  outbox.set_replay_job(text, text),
  outbox.backfill_events(uuid, text[], timestamptz, timestamptz, text, boolean, integer, boolean),
  outbox.discard_dead_letter(uuid, uuid, text),
  outbox.mark_delivered(timestamptz, text, uuid, text),
  outbox.get_metrics(),
  outbox.queue_backlog(),
  outbox.queue_problems(jsonb),
  outbox.gate_totals(),
  outbox.check_installation(uuid),
  outbox.list_workers()
to service_role;
grant select on
  outbox.replay_job, outbox.delivered_mark,
  outbox.open_delivery, outbox.delivery_status, outbox.relay_status,
  outbox.webhook_outbox,
  outbox.saga_outbox, outbox.transaction_outbox, outbox.endpoint_status, outbox.queue_health
to service_role;
grant insert on outbox.webhook_outbox to service_role;
grant insert on outbox.saga_outbox, outbox.transaction_outbox to service_role;
