-- Requests of the HTTP API: the responses for Idempotency-Keys, stored for
-- idempotency.window_hours, and the rate limit of each organisation.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('api.requests_per_second', '100', 'integer', 1, 100000, true,
    'How many requests a second each organisation may send to the API; further requests get a '
    'response of 429'),
  ('api.burst', '200', 'integer', 1, 100000, true,
    'How many requests an organisation may send to the API at once after a pause'),
  ('api.max_calls_in_flight', '8', 'integer', 1, 1000, true,
    'How many calls to the database each process of the API makes at once for an organisation; '
    'further calls wait');

create table outbox.request_key (
  org_id text not null,
  key text not null,
  route text not null,
  content bytea not null,
  response jsonb,
  created_at timestamptz not null,
  primary key (org_id, key)
);
comment on table outbox.request_key is
  'Requests with an Idempotency-Key, of the last idempotency.window_hours: a hash of the request, '
  'and the response without secrets.';
create index request_key_created on outbox.request_key (created_at);

create function outbox.begin_request(
  p_org_id text, p_route text, p_key text, p_request jsonb
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  if p_key is null then
    return null;
  end if;
  if p_key !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('Idempotency-Key', 'is not 1 to 128 visible ASCII characters',
      'Use a new random key for each request, such as a UUID');
  end if;
  -- A second request with the same key waits here until the first commits.
  insert into outbox.request_key as k (org_id, key, route, content, created_at)
  values (p_org_id, p_key, p_route, outbox.request_content(p_request), v_now)
  on conflict (org_id, key) do update
    set route = excluded.route, content = excluded.content, response = null,
      created_at = excluded.created_at
    where k.created_at <= excluded.created_at - outbox.key_window();
  if found then
    return null;
  end if;
  return outbox.find_response(p_org_id, p_route, p_key, p_request, v_now);
end
$$;
comment on function outbox.begin_request(text, text, text, jsonb) is
  'Stores the Idempotency-Key of a request and returns null. If it is already stored, returns the '
  'response of its first request. Call it first in the transaction of the request. Returns null '
  'without a key. OH001; OH003: the key was used with another route or body.';

create function outbox.request_content(p_request jsonb) returns bytea
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.sha256(pg_catalog.convert_to(p_request::text, 'UTF8'));
end
$$;
comment on function outbox.request_content(jsonb) is
  'SHA-256 of a request, which must be equal in two requests with the same key.';

create function outbox.find_response(
  p_org_id text, p_route text, p_key text, p_request jsonb, p_now timestamptz
) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_stored outbox.request_key;
begin
  select * into v_stored from outbox.request_key k
  where k.org_id = p_org_id and k.key = p_key and k.created_at > p_now - outbox.key_window();
  if not found then
    return null;
  end if;
  if v_stored.route <> p_route or v_stored.content <> outbox.request_content(p_request) then
    raise exception using errcode = 'OH003',
      message = pg_catalog.format(
        'Idempotency-Key was used within %s hours for another request',
        outbox.setting_int('idempotency.window_hours')),
      hint = 'Use a new key for a new request, or repeat the request with the same body';
  end if;
  return v_stored.response;
end
$$;
comment on function outbox.find_response(text, text, text, jsonb, timestamptz) is
  'The response of the first request with a key; null if there is none. OH003: the key was used '
  'with another route or body.';

create function outbox.end_request(p_org_id text, p_key text, p_response jsonb) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.request_key k set response = p_response where k.org_id = p_org_id and k.key = p_key;
end
$$;
comment on function outbox.end_request(text, text, jsonb) is
  'Stores the response, without secrets, for the key of begin_request(). Does nothing without a '
  'key.';

-- Unlogged: after a crash every organisation has a full bucket.
create unlogged table outbox.request_bucket (
  org_id text primary key,
  tokens float8 not null,
  filled_at timestamptz not null
) with (fillfactor = 50);
comment on table outbox.request_bucket is
  'How many requests each organisation may still send, as of filled_at.';

create function outbox.take_requests(p_org_id text, p_count integer) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_rate float8 := outbox.org_setting_int(p_org_id, 'api.requests_per_second');
  v_burst float8 := outbox.org_setting_int(p_org_id, 'api.burst');
  v_tokens float8;
  v_granted integer;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_range('count', p_count, 1, 1000);
  insert into outbox.request_bucket as b (org_id, tokens, filled_at)
  values (p_org_id, v_burst, v_now)
  on conflict (org_id) do update
    set tokens = least(v_burst, b.tokens
        + v_rate * greatest(extract(epoch from excluded.filled_at - b.filled_at), 0)),
      filled_at = case
        -- The clock was set back by more than calls beside each other differ.
        when b.filled_at > excluded.filled_at + interval '10 s' then excluded.filled_at
        else greatest(b.filled_at, excluded.filled_at)
      end
  returning b.tokens into v_tokens;
  v_granted := least(p_count, pg_catalog.floor(v_tokens));
  if v_granted > 0 then
    update outbox.request_bucket b set tokens = b.tokens - v_granted where b.org_id = p_org_id;
  end if;
  return pg_catalog.jsonb_build_object('granted', v_granted, 'retryAfterMs',
    case
      when v_granted > 0 then 0
      else pg_catalog.ceil((1 - v_tokens) / v_rate * 1000)
    end,
    'portal', outbox.portal_revocations(p_org_id),
    'maxInFlight', outbox.org_setting_int(p_org_id, 'api.max_calls_in_flight'));
end
$$;
comment on function outbox.take_requests(text, integer) is
  'Takes up to p_count requests from the bucket of an organisation (settings '
  'api.requests_per_second and api.burst): {"granted", "retryAfterMs": the time until the next '
  'one, 0 if any was granted, "portal": see portal_revocations(), "maxInFlight": the setting '
  'api.max_calls_in_flight}. OH001.';

create function outbox.count_requests(p_requests jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_bounds integer[] := outbox.attempt_bounds();
begin
  with valid as materialized (
    select pg_catalog.left(r.method, 10) as method, pg_catalog.left(r.route, 100) as route,
      pg_catalog.left(r.status::text, 3) as status, r.n, r.ms
    from pg_catalog.jsonb_to_recordset(p_requests) as r (
      method text, route text, status integer, n bigint, ms bigint)
    where r.n > 0 and r.ms >= 0 and r.method is not null and r.route is not null
      and r.status is not null
    limit 1000
  )
  insert into outbox.counter_change (metric, labels, n, total)
  select 'requests', array[g.method, g.route, g.status], pg_catalog.sum(g.n), pg_catalog.sum(g.ms)
  from valid g
  group by g.method, g.route, g.status
  union all
  select 'request_ms', array[g.method, b.bucket], pg_catalog.sum(g.n), pg_catalog.sum(g.ms)
  from valid g
  cross join lateral (
    select (pg_catalog.width_bucket(g.ms / g.n - 1, v_bounds) + 1)::text as bucket
  ) b
  group by g.method, b.bucket;
  return pg_catalog.jsonb_build_object('noted', true);
end
$$;
comment on function outbox.count_requests(jsonb) is
  'Counts requests that the API has handled: [{"method", "route": as the API names it, "status", '
  '"n": how many, "ms": their total duration; all of one entry count in the same bucket}]. '
  'Returns {"noted": true}.';

create function outbox.remove_request_keys(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  -- Another request may have used the bucket since.
  perform outbox.change_rows('outbox.remove_request_keys', 'outbox.request_bucket', $delete$
      delete from outbox.request_bucket b
      where b.ctid = any ($1) and b.filled_at < $2 - interval '1 hour'
    $delete$,
    array(
      select o.ctid from outbox.request_bucket o
      where o.filled_at < p_now - interval '1 hour' limit p_limit),
    p_now);
  return outbox.change_rows('outbox.remove_request_keys', 'outbox.request_key',
    'delete from outbox.request_key k where k.ctid = any ($1) '
      'and k.created_at < $2 - outbox.key_window()',
    array(
      select o.ctid from outbox.request_key o
      where o.created_at < p_now - outbox.key_window() order by o.created_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.remove_request_keys(timestamptz, integer) is
  'Deletes up to p_limit keys older than idempotency.window_hours, and as many buckets that are '
  'full again; returns the number of keys.';

insert into outbox.cleanup_step (name, calls) values
  ('request_keys', 'outbox.remove_request_keys');
