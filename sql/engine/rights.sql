-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.route_again(uuid),
  outbox.last_tick_at(),
  outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer)
to service_role;
grant select on
  outbox.unrouted, outbox.backlog, outbox.unroutable, outbox.routing_timeout, outbox.gate,
  outbox.lane, outbox.delivery, outbox.attempt, outbox.attempt_default, outbox.dead_letter,
  outbox.refusal,
  outbox.endpoint_refusal, outbox.error_hint, outbox.run
to service_role;
