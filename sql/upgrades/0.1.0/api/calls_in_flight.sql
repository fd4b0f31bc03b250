-- The limit of calls to the database at once.
insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('api.max_calls_in_flight', '8', 'integer', 1, 1000, true,
    'How many calls to the database each process of the API makes at once for an organisation; '
    'further calls wait');
