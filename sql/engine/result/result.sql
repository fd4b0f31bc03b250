-- The results that a run reports, and their effects.

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
  provider jsonb,
  cut boolean,
  resent boolean,
  endpoint_version integer
);
comment on type outbox.result is
  'The result of one delivery, as a run reports it. outcome: delivered, failed, released (not '
  'sent), or renew (its ordered lane takes longer); provider_id: the id that the provider '
  'assigned; provider: other values that the provider returned; cut: '
  'response has only the start of the body; resent: the request was sent twice, because the first '
  'connection ended without a response; endpoint_version: of the endpoint that the run used.';

create type outbox.news as (
  applied integer,
  dead_events uuid[],
  dead_endpoints uuid[],
  opened uuid[],
  closed uuid[],
  gone uuid[],
  held uuid[],
  failing uuid[]
);
comment on type outbox.news is
  'The effects of results beyond their deliveries: dead letters, breakers that opened or closed, '
  'and endpoints that returned 410 (gone), that another failure rule holds (held) or that have '
  'failed for days (failing).';

create type outbox.completed as (applied integer, refused integer, error text);
comment on type outbox.completed is
  'How many results were applied, how many the database refused to store, and the error of one '
  'refusal; the rest are stale.';

create type outbox.reported as (
  results outbox.result[],
  bad outbox.result[],
  sqlstates text[],
  errors text[]
);
comment on type outbox.reported is
  'The results of a run. results: those that can be read; bad, sqlstates, errors: the delivery and '
  'the error of each unreadable result.';

create function outbox.given_back(
  p_event_id uuid, p_endpoint_id uuid, p_attempt integer
) returns outbox.result
language plpgsql immutable set search_path = ''
as $$
begin
  return row(p_event_id, p_endpoint_id, p_attempt, 'released', null, null, null, null, null, null,
    null, null, null, null, null, null, null)::outbox.result;
end
$$;
comment on function outbox.given_back(uuid, uuid, integer) is
  'The result that releases a claimed delivery.';
