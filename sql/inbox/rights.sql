-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.accept_once(text, text),
  outbox.check_handler(text),
  outbox.consume(text, text, text, text),
  outbox.list_consumers(text),
  outbox.report_dead_message(text, text, text, text, text, text, text, integer),
  outbox.take_events(text, jsonb)
to service_role;
grant select on outbox.consumer_inbox to service_role;

-- The module inbox ends here.
select outbox.record_module('inbox');
