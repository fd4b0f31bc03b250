-- Creates a webhook endpoint with its headers, first secret, gate, lane and subscriptions. The
-- modules brokers and messages create the other kinds.

create function outbox.create_endpoint(
  p_url text,
  p_event_types text[] default '{*}',
  p_org_id text default 'default',
  p_secret text default null,
  p_description text default '',
  p_headers jsonb default '{}',
  p_payload text default 'envelope',
  p_timeout_ms integer default null,
  p_ordering text default 'none',
  p_max_in_flight integer default null,
  p_quantum integer default null,
  p_retry jsonb default null,
  p_rate_per_second double precision default null,
  p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_secret text := outbox.check_secret(coalesce(p_secret, outbox.new_secret()));
  v_timeout_ms integer := coalesce(p_timeout_ms, outbox.setting_int('endpoint.timeout_ms'));
  v_max_in_flight integer :=
    coalesce(p_max_in_flight, outbox.setting_int('endpoint.max_in_flight'));
  v_quantum integer := coalesce(p_quantum, outbox.setting_int('endpoint.quantum'));
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_headers(p_headers);
  perform outbox.check_retry(p_retry);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_choice('ordering', p_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_range('timeout_ms', v_timeout_ms, 500, 60000);
  perform outbox.check_range('max_in_flight', v_max_in_flight, 1, 1000);
  perform outbox.check_range('quantum', v_quantum, 1, 1000);
  perform outbox.check_range('rate_per_second', coalesce(p_rate_per_second, 1), 0.001, 100000);
  perform outbox.check_endpoint_limit(p_org_id);
  insert into outbox.endpoint (org_id, url, description, payload,
    timeout_ms, ordering, max_in_flight, quantum, retry, rate_per_second,
    created_at, updated_at)
  values (p_org_id, outbox.check_url(p_url), coalesce(p_description, ''), p_payload,
    v_timeout_ms, p_ordering, v_max_in_flight, v_quantum, p_retry, p_rate_per_second,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_secret(v_id, v_secret, v_now);
  perform outbox.add_gate(v_id, p_ordering);
  perform outbox.add_subscriptions(v_id, p_event_types, p_filter);
  perform outbox.note_endpoint(v_id, 'CREATED', 'Endpoint created');
  return pg_catalog.jsonb_build_object('id', v_id, 'secret', v_secret);
end
$$;
comment on function outbox.create_endpoint(
  text, text[], text, text, text, jsonb, text, integer, text, integer, integer, jsonb,
  double precision, text) is
  'Creates a webhook endpoint and returns {"id": uuid, "secret": "whsec_…"}. No list shows the '
  'secret; read_secret() returns it. p_timeout_ms, p_max_in_flight and p_quantum default to the '
  'settings endpoint.*. OH001 names the invalid argument; OH010: a limit of the organisation.';
