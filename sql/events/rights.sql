-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_raw(text, text, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_many(jsonb),
  outbox.publish_once(jsonb),
  outbox.uuid_v7_time(uuid),
  outbox.stored_from()
to service_role;
grant select on outbox.event, outbox.event_default, outbox.event_bytes to service_role;
