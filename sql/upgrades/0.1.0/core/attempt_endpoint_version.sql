-- The version of the endpoint with which an attempt was made. A run says it in its result.
alter type outbox.result add attribute endpoint_version integer;
comment on type outbox.result is
  'The result of one delivery, as a run reports it. outcome: delivered, failed, released (not '
  'sent), or renew (its ordered lane takes longer); provider_id: the id that the provider '
  'assigned; provider: other values that the provider returned; cut: '
  'response has only the start of the body; resent: the request was sent twice, because the first '
  'connection ended without a response; endpoint_version: of the endpoint that the run used.';
alter table outbox.attempt add column endpoint_version integer;
comment on table outbox.attempt is
  'One row per outcome of a claim (attempt), and per end without a delivery (close). Append-only, '
  'dropped by age. failed_attempts: only in the last row of a delivery, its failed_attempts. '
  'resent: the request was sent twice, because the first connection ended without a response. '
  'endpoint_version: the version of the endpoint with which the run made the request; null if the '
  'run did not say it.';
