-- Failure rules: one row per kind and code, so that one UPDATE changes a rule. A code is a code of
-- the provider, an HTTP status, a class of statuses (5xx), or an error class. The most specific row
-- applies. A failure without a row is retried.

create table outbox.failure_rule (
  kind text not null,
  code text not null,
  action text not null
    constraint failure_rule_action_is_known check (
      action in ('retry', 'wait', 'fail', 'hold', 'fail_hold', 'throttle')
    ),
  min_delay_s double precision not null default 0
    constraint failure_rule_min_delay_is_sensible check (min_delay_s between 0 and 604800),
  title text not null,
  scope text not null default 'endpoint'
    constraint failure_rule_scope_is_known check (
      scope in ('endpoint', 'lane', 'account', 'app')
    ),
  firm boolean not null default false,
  note text not null default '',
  opt_out text
    constraint failure_rule_opt_out_is_known check (opt_out in ('MARKETING', 'ALL')),
  max_retries integer
    constraint failure_rule_max_retries_is_sensible check (max_retries between 0 and 50),
  new_token boolean not null default false,
  of_recipient boolean not null default false,
  primary key (kind, code)
);
comment on table outbox.failure_rule is
  'How to handle a failure, by endpoint kind (* for all) and code. action: retry: by the '
  'schedule, after at least min_delay_s; wait: the delivery is not the cause, so the breaker '
  'opens at once and no attempt is counted; fail: a dead letter at once; hold: the endpoint is '
  'disabled and the delivery stays open; fail_hold: both; throttle: retry, and the whole endpoint '
  'waits for min_delay_s or for Retry-After. scope: which deliveries a throttle delays (lane: '
  'those of one recipient). firm: is_transient of the provider does not change the rule. opt_out: '
  'the failure means that the recipient has opted out of these messages. max_retries: a lower '
  'limit than that of the endpoint. new_token: a new access token is the remedy. of_recipient: a '
  'final failure that concerns only this recipient, and that nobody can correct: the delivery is '
  'cancelled, without a dead letter. A code may have a subcode after a dot.';

insert into outbox.failure_rule (kind, code, action, title) values
  ('*', '3xx', 'retry', 'The endpoint redirects, and redirects are not followed'),
  ('*', '4xx', 'fail', 'The endpoint rejected the request'),
  ('*', '408', 'retry', 'The endpoint timed out while reading the request'),
  ('*', '410', 'hold', 'The endpoint was removed permanently'),
  ('*', '425', 'retry', 'The endpoint does not accept a request that may be a replay'),
  ('*', '429', 'throttle', 'The endpoint receives too many requests'),
  ('*', '5xx', 'retry', 'The endpoint has an internal error'),
  ('*', '503', 'throttle', 'The endpoint is temporarily unavailable'),
  ('*', 'blocked', 'fail', 'The address is not allowed');

create function outbox.failure_rule_of(
  p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text default null
) returns outbox.failure_rule
language plpgsql stable set search_path = ''
as $$
declare
  v_rule outbox.failure_rule;
begin
  select f.* into v_rule
  from unnest(array[
    p_code || '.' || p_subcode,
    p_code,
    case when p_status not between 200 and 299 then p_status::text end,
    case when p_status not between 200 and 299 then p_status / 100 || 'xx' end,
    p_error_class
  ]) with ordinality as c (code, place)
  join outbox.failure_rule f on f.code = c.code and f.kind in (p_kind, '*')
  order by c.place, f.kind = '*'
  limit 1;
  if not found then
    v_rule := row(p_kind, '', 'retry', 0, 'No rule for this failure', 'endpoint', false, '',
      null, null, false, false)::outbox.failure_rule;
  end if;
  return v_rule;
end
$$;
comment on function outbox.failure_rule_of(text, integer, text, text, text) is
  'The rule for a failure. The first that exists of: the provider''s code with its subcode, the '
  'code alone, the status, the class of the status, the error class. If there is none: retry.';

create function outbox.retry_if_transient(
  p_rule outbox.failure_rule, p_provider jsonb
) returns outbox.failure_rule
language plpgsql immutable set search_path = ''
as $$
begin
  if p_provider -> 'is_transient' = 'true' and not p_rule.firm
    and p_rule.action in ('fail', 'hold')
  then
    p_rule.action := 'retry';
  end if;
  return p_rule;
end
$$;
comment on function outbox.retry_if_transient(outbox.failure_rule, jsonb) is
  'The rule, but with the action retry if the provider marks the failure as transient and the '
  'rule is not firm.';

create function outbox.is_retryable(
  p_kind text, p_status integer, p_error_class text, p_code text default null
) returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (outbox.failure_rule_of(p_kind, p_status, p_error_class, p_code)).action
    in ('retry', 'wait', 'throttle');
end
$$;
comment on function outbox.is_retryable(text, integer, text, text) is
  'Whether a failure is retried. No valid response, 3xx, 408, 425, 429 and 5xx are; any other '
  'status and a blocked address are not. The table failure_rule decides.';

create function outbox.retry_after(
  p_header text, p_now timestamptz, p_most_s integer default outbox.setting_int('retry_after.max_s')
) returns interval
language plpgsql stable set search_path = ''
as $$
declare
  v_months constant text[] := array[
    'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  v_date text[];
  v_wait interval;
begin
  if p_header ~ '^[[:space:]]*[0-9]+([.][0-9]+)?[[:space:]]*$' then
    v_wait := pg_catalog.make_interval(secs => least(pg_catalog.btrim(p_header)::float8, p_most_s));
  else
    -- RFC 9110, section 5.6.7: the current format, and two obsolete ones that a recipient must
    -- accept.
    v_date := coalesce(
      pg_catalog.regexp_match(p_header,
        '^[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9:]{8}) GMT$'),
      pg_catalog.regexp_match(p_header,
        '^[A-Z][a-z]{5,8}, ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8}) GMT$'),
      (
        select array[m[2], m[1], m[4], m[3]]
        from pg_catalog.regexp_match(p_header,
          '^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ 0-9][0-9]) ([0-9:]{8}) ([0-9]{4})$') m
      ));
    v_wait := (
      pg_catalog.make_date(
        v_date[3]::integer + case when pg_catalog.length(v_date[3]) = 2 then 2000 else 0 end,
        pg_catalog.array_position(v_months, v_date[2]),
        v_date[1]::integer)
      + v_date[4]::time
    ) at time zone 'UTC' - p_now;
    -- A two-digit year more than 50 years ahead is one of the previous century.
    if v_wait > interval '18262 days' and pg_catalog.length(v_date[3]) = 2 then
      return null;
    end if;
  end if;
  return case when v_wait > interval '0' then least(v_wait, p_most_s * interval '1 s') end;
exception when datetime_field_overflow or invalid_datetime_format then
  return null;
end
$$;
comment on function outbox.retry_after(text, timestamptz, integer) is
  'The wait that a Retry-After header requests (seconds, with a fraction or not, or an HTTP '
  'date), at most p_most_s; null if it is past, zero or invalid.';
