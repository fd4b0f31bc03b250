-- The latest time that was given to an event: see events/event_time.
create sequence outbox.event_clock minvalue 0 start 0;
