-- The rights of the module inbox, in the same form as those of the core (operations/rights).

select outbox.close_new();

grant execute on function
  outbox.accept_once(text, text),
  outbox.check_handler(text),
  outbox.consume(text, text, text, text),
  outbox.report_dead_message(text, text, text, text, text, text, text, integer)
to service_role;
grant select on outbox.consumer_inbox to service_role;
