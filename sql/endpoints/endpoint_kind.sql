-- The kinds of endpoints. A module that adds a kind inserts its row before the first endpoint of
-- that kind. Only the owner of the schema may write here, because a row names functions to call.

create table outbox.endpoint_kind (
  kind text primary key
    constraint endpoint_kind_is_a_word check (kind ~ '^[a-z][a-z0-9_]{0,30}$'),
  retry jsonb not null,
  pauses_on_hold boolean not null default false,
  response_class text,
  is_cached boolean not null default true,
  credentials_remedy text,
  rewrite_command text,
  managed_as text,
  managed_at text,
  create_function text
    constraint endpoint_kind_create_function_is_a_name check (
      create_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  change_function text
    constraint endpoint_kind_change_function_is_a_name check (
      change_function ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  constraint endpoint_kind_managed_somewhere check ((managed_as is null) = (managed_at is null))
);
comment on table outbox.endpoint_kind is
  'The kinds of endpoints. retry: the default retry policy of the kind.';
comment on column outbox.endpoint_kind.pauses_on_hold is
  'The effect of a failure rule with the action hold. True: the module pauses the endpoint with a '
  'reason that starts with "held: ", and the failure does not count as an attempt. False: the '
  'endpoint is disabled, and the failure counts.';
comment on column outbox.endpoint_kind.response_class is
  'The error_class of a failure in which the receiver responded without an HTTP status; null if '
  'there is none.';
comment on column outbox.endpoint_kind.is_cached is
  'Whether a run may cache such an endpoint until its row changes. False: each claim returns it, '
  'because the data that it needs also changes in other tables.';
comment on column outbox.endpoint_kind.credentials_remedy is
  'The remedy if the credentials cannot be read. A message puts "outbox." before it. Example: '
  'set_slack_url() sets it again.';
comment on column outbox.endpoint_kind.rewrite_command is
  'The call that sets the credentials again, for release_command(): a template for format() with '
  'two arguments, the organisation and the id of the endpoint.';
comment on column outbox.endpoint_kind.managed_at is
  'The path of the API that changes and deletes such an endpoint; managed_as is its name there (a '
  'channel). Null: the path of all other endpoints.';
comment on column outbox.endpoint_kind.create_function is
  'The function, with its schema, with which the API creates such an endpoint. Arguments: the '
  'organisation, the members of the request, the event types. It returns {"id"} and members that '
  'are shown only in this response. Null: the API cannot create this kind.';
comment on column outbox.endpoint_kind.change_function is
  'The function, with its schema, with which the API changes the members of this kind. Arguments: '
  'the id of the endpoint, the change. It returns the members that every kind has.';

insert into outbox.endpoint_kind (kind, retry) values
  ('webhook', '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "max_retries": 5,
    "jitter": true}');
