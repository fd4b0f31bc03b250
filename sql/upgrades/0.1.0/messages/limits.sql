-- The limit of templates. Those that an organisation has above it stay.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.templates', '1000', 'integer', 1, 100000, true,
    'How many templates an organisation may have; their list has no pages');
