-- The secret of X-Signature while several secrets sign. webhook-signature has the signatures of all
-- of them, but X-Signature has only one, and nobody tells us when a receiver changes its secret.
--
-- The gate has the secret that the receiver accepted last (secret_id). At first this is the oldest.
-- If the receiver rejects an attempt (401 or 403), only this delivery tries the other secrets, each
-- once without using up a retry. The secret of the gate changes when one of them is accepted. So an
-- event that the receiver always forbids changes nothing for the others.
--
-- A delivery has the secret of its last claim (secret_id) and the secrets that were rejected for
-- it, the last one last (rejected_secrets). A result is judged by this secret, not by times,
-- because the gate and the secrets may change while a request is under way.

create function outbox.signing_secrets(
  p_endpoint_ids uuid[], p_now timestamptz, p_rejected uuid[] default null
) returns uuid[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select (
      select s.id from outbox.endpoint_secret s
      where s.endpoint_id = e.id and s.scheme = 'v1'
        and (s.expires_at is null or s.expires_at > p_now)
      order by pg_catalog.array_position(p_rejected, s.id) nulls first,
        s.id is not distinct from g.kept desc, s.expires_at is null, s.created_at, s.id
      limit 1)
    from pg_catalog.unnest(p_endpoint_ids) with ordinality as e (id, place)
    left join lateral (
      select g.secret_id as kept from outbox.gate g
      where g.endpoint_id = e.id order by g.changed_at desc limit 1
    ) g on true
    order by e.place);
end
$$;
comment on function outbox.signing_secrets(uuid[], timestamptz, uuid[]) is
  'The secret of X-Signature of each endpoint, in the order given: the one that the gate keeps if '
  'it still signs, or else the oldest that still signs; null if none does. A secret in p_rejected '
  'comes after all others, the last one last.';

create function outbox.signing_secret(
  p_endpoint_id uuid, p_now timestamptz, p_rejected uuid[] default null
) returns uuid
language plpgsql stable set search_path = ''
as $$
begin
  return (outbox.signing_secrets(array[p_endpoint_id], p_now, p_rejected))[1];
end
$$;
comment on function outbox.signing_secret(uuid, timestamptz, uuid[]) is
  'As signing_secrets(), for one endpoint.';

create function outbox.has_other_secret(
  p_endpoint_id uuid, p_tried uuid[], p_now timestamptz
) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return exists (
    select from outbox.endpoint_secret s
    where s.endpoint_id = p_endpoint_id and s.scheme = 'v1'
      and (s.expires_at is null or s.expires_at > p_now)
      and s.id <> all (p_tried));
end
$$;
comment on function outbox.has_other_secret(uuid, uuid[], timestamptz) is
  'Whether another secret than these signs, so that a rejection may be due to the secret only.';

create function outbox.keep_secrets(
  p_endpoint_ids uuid[], p_secret_ids uuid[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  update outbox.gate g set
    secret_id = k.secret_id,
    changed_at = pg_catalog.date_trunc('second', p_now)
  from (
    select distinct on (u.endpoint_id) u.endpoint_id, u.secret_id
    from unnest(p_endpoint_ids, p_secret_ids) with ordinality as u (endpoint_id, secret_id, place)
    order by u.endpoint_id, u.place desc
  ) k
  cross join lateral (
    select o.ctid as gate_at from outbox.gate o
    where o.endpoint_id = k.endpoint_id order by o.changed_at desc limit 1
  ) o
  where g.ctid = o.gate_at;
end
$$;
comment on function outbox.keep_secrets(uuid[], uuid[], timestamptz) is
  'Keeps the secret of X-Signature that a receiver accepted after it had rejected another one. '
  'locks: the caller holds the gates.';

create function outbox.with_secrets(
  p_deliveries json, p_endpoint_ids uuid[], p_now timestamptz
) returns json
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_secrets jsonb := (
    select coalesce(
      pg_catalog.jsonb_object_agg(s.id::text, outbox.try_read(s.vault_id)), '{}')
    from pg_catalog.unnest(p_endpoint_ids) e (id)
    join outbox.endpoint_secret s on s.endpoint_id = e.id
    where s.scheme = 'v1' and (s.expires_at is null or s.expires_at > p_now));
begin
  return (
    select pg_catalog.json_agg(
      case
        when v.secret is null then t.one
        else (t.one::jsonb || pg_catalog.jsonb_build_object('secret', v.secret))::json
      end order by t.place)
    from pg_catalog.json_array_elements(p_deliveries) with ordinality as t (one, place)
    cross join lateral (
      select v_secrets ->> (
        select d.secret_id::text from outbox.delivery d
        where d.event_id = (t.one ->> 'event')::uuid
          and d.endpoint_id = (t.one ->> 'endpoint')::uuid) as secret
      offset 0
    ) v);
end
$$;
comment on function outbox.with_secrets(json, uuid[], timestamptz) is
  'Deliveries of a parcel, those of these endpoints with "secret", the secret of X-Signature. '
  'Skips a secret that Vault cannot return or that has expired.';
