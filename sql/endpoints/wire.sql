-- Members of an endpoint as the HTTP API has them, in camelCase. The module api uses them, and so
-- do modules that add a kind of endpoint.

create function outbox.endpoint_members(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return '{"broker": null}';
end
$$;
comment on function outbox.endpoint_members(outbox.endpoint) is
  'Extension point of endpoint_json(): what the API shows of endpoint.config, as members of the '
  'endpoint. The API always shows the member broker, which is null here; the module brokers '
  'replaces it.';

create function outbox.refuse_members(
  p_endpoint jsonb, p_kind text, p_members text[], p_remedy text
) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_stray text;
begin
  select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
  where k = any (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(v_stray, 'does not go with kind ' || p_kind, p_remedy);
  end if;
end
$$;
comment on function outbox.refuse_members(jsonb, text, text[], text) is
  'Raises OH001 for the first member of a new endpoint that does not go with its kind.';

create function outbox.retry_of_wire(p_policy jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  if p_policy is null then
    return null;
  end if;
  return (
    select coalesce(pg_catalog.jsonb_object_agg(
      case m.key
        when 'baseDelay' then 'base_delay'
        when 'maxDelay' then 'max_delay'
        when 'maxRetries' then 'max_retries'
        else m.key
      end, m.value), '{}')
    from pg_catalog.jsonb_each(p_policy) m
  );
end
$$;
comment on function outbox.retry_of_wire(jsonb) is
  'A retry policy with the names that SQL has, of one with those of the API; null for null.';

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
  'A retry policy with the names of the API.';
