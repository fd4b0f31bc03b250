-- What becomes of the tables of the API if an organisation moves.

insert into outbox.move_part (name, position, read_function, write_function, page_rows) values
  ('event_catalogue', 2, 'outbox.read_moved_catalogue', 'outbox.write_moved_catalogue', 1),
  ('event_type', 3, 'outbox.read_moved_types', 'outbox.write_moved_types', 500);
insert into outbox.move_part (name) values
  ('event_type_change'), ('portal_token_count'), ('portal_generation'), ('revoked_portal_token'),
  ('request_key'), ('request_bucket');

create trigger event_catalogue_was_moved
  before insert or update or delete on outbox.event_catalogue
  for each row execute function outbox.keep_moved();
create trigger event_type_was_moved
  before insert or update or delete on outbox.event_type
  for each row execute function outbox.keep_moved();
