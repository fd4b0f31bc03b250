-- The kinds of endpoints, a row for each. A module that adds a kind inserts its row, before the
-- first endpoint of that kind. Only the owner of the schema may write here, because a row names
-- functions that are called.

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
  'The kinds of endpoints. retry: the retry policy of an endpoint that has none of its own.';
comment on column outbox.endpoint_kind.pauses_on_hold is
  'What a failure rule with the action hold does. True: the module pauses the endpoint, with a '
  'reason that begins with "held: ", and the failure counts as no attempt. False: the endpoint is '
  'disabled, and the failure counts.';
comment on column outbox.endpoint_kind.response_class is
  'The error_class of a failure in which the receiver did respond, although there is no HTTP '
  'status; null: there is none.';
comment on column outbox.endpoint_kind.is_cached is
  'Whether a run may keep such an endpoint until its row changes. False: the run gets it with each '
  'claim, because what it needs also changes elsewhere.';
comment on column outbox.endpoint_kind.credentials_remedy is
  'What to do if the credentials cannot be read, which follows "outbox.": set_slack_url() sets it '
  'again.';
comment on column outbox.endpoint_kind.rewrite_command is
  'The call that sets credentials again, for release_command(): text for format() with the '
  'organisation as first and the id of the endpoint as second argument.';
comment on column outbox.endpoint_kind.managed_at is
  'The path of the API under which such an endpoint is changed and deleted, and managed_as what it '
  'is called there (a channel); null: it is an endpoint like any other.';
comment on column outbox.endpoint_kind.create_function is
  'What the API creates such an endpoint with: a function, with its schema, of the organisation, '
  'the members that the API took, and the event types. It returns {"id"} and what the caller sees '
  'this once. Null: the API creates none of this kind.';
comment on column outbox.endpoint_kind.change_function is
  'What the API changes the members of this kind with: a function, with its schema, of the '
  'endpoint''s id and the change. It returns the members that are left for every kind to change.';

insert into outbox.endpoint_kind (kind, retry) values
  ('webhook', '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], "max_retries": 5,
    "jitter": true}');
