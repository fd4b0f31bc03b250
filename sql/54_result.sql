-- What a run reports, and what became of it.

create type outbox.result as (
  event uuid,
  endpoint uuid,
  attempt integer,
  outcome text,
  status integer,
  error_class text,
  error text,
  code text,
  retry_after text,
  duration_ms integer,
  response text,
  lossy boolean,
  provider_id text,
  provider jsonb
);
comment on type outbox.result is
  'What a run reports of one delivery: outcome is delivered, failed or released (given back '
  'unsent), or renew (its ordered lane takes longer). provider_id is what the provider calls the '
  'thing that it took, provider what else it said.';

create type outbox.news as (
  applied integer,
  dead_events uuid[],
  dead_endpoints uuid[],
  opened uuid[],
  closed uuid[],
  gone uuid[],
  failing uuid[]
);
comment on type outbox.news is
  'What became of results beyond the deliveries: dead letters, breakers that opened or closed, '
  'endpoints that answered 410 or have failed for days.';
