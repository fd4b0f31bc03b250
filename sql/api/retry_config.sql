create function outbox.retry_to_wire(p_policy jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_object_agg(
      case m.key
        when 'base_delay' then 'baseDelay'
        when 'max_delay' then 'maxDelay'
        when 'max_retries' then 'maxRetries'
        else m.key
      end, m.value)
    from pg_catalog.jsonb_each(p_policy) m
  );
end
$$;
comment on function outbox.retry_to_wire(jsonb) is
  'Renames the fields of a retry policy from the names of SQL to those of the API.';

create function outbox.schedule_json(p_policy jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(
      pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('failure', s.value -> 'failure',
          'delaySeconds', s.value -> 'delay_s', 'leastSeconds', s.value -> 'least_s',
          'mostSeconds', s.value -> 'most_s', 'afterSeconds', s.value -> 'after_s')
        order by s.ordinality),
      '[]')
    from pg_catalog.jsonb_array_elements(outbox.preview_schedule(p_policy))
      with ordinality as s (value, ordinality)
  );
end
$$;
comment on function outbox.schedule_json(jsonb) is
  'preview_schedule() with the names of the API. OH001.';

create function outbox.retry_config_json(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_policy jsonb := coalesce(p_endpoint.retry, outbox.retry_preset(p_endpoint.kind));
begin
  return pg_catalog.jsonb_build_object('preset', p_endpoint.retry is null,
    'policy', outbox.retry_to_wire(v_policy), 'schedule', outbox.schedule_json(v_policy),
    'version', p_endpoint.version);
end
$$;
comment on function outbox.retry_config_json(outbox.endpoint) is
  'The policy of an endpoint and its delays: {"preset": whether it is that of the kind, "policy", '
  '"schedule", "version" (of the endpoint)}.';

create function outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.retry_config_json(outbox.org_endpoint(p_org_id, p_endpoint_id));
end
$$;
comment on function outbox.get_retry_config(text, uuid) is
  'The retry policy of an endpoint: retry_config_json(). OH002.';

create function outbox.set_retry_config(
  p_org_id text, p_endpoint_id uuid, p_policy jsonb default null, p_version integer default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_policy jsonb := outbox.retry_of_wire(nullif(p_policy, 'null'));
begin
  perform outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);
  perform outbox.check_retry(v_policy);
  update outbox.endpoint e
  set retry = v_policy, version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  perform outbox.note_change(p_endpoint_id, array['retry'], null);
  return outbox.get_retry_config(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.set_retry_config(text, uuid, jsonb, integer) is
  'Sets the retry policy of an endpoint; null restores that of its kind. It applies from the next '
  'failure on. OH001, OH002, OH004, OH008.';

create function outbox.preview_retry_config(p_policy jsonb) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'schedule', outbox.schedule_json(outbox.retry_of_wire(p_policy)));
end
$$;
comment on function outbox.preview_retry_config(jsonb) is
  'The delays of a policy: {"schedule": [{"failure", "delaySeconds", "leastSeconds", '
  '"mostSeconds", "afterSeconds"}]}. OH001.';
