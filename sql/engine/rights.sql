-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.route_again(uuid),
  outbox.last_tick_at(),
  outbox.alive_since(timestamptz),
  outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer)
to service_role;
grant select on
  outbox.unrouted, outbox.waiting_part, outbox.unroutable, outbox.routing_timeout, outbox.gate,
  outbox.lane, outbox.delivery, outbox.attempt, outbox.attempt_default, outbox.dead_letter,
  outbox.refusal,
  outbox.endpoint_refusal, outbox.lane_refusal, outbox.error_hint, outbox.run, outbox.waiting_kind
to service_role;
