-- Subscriptions: the event types that an endpoint receives, each with an optional filter. Routing
-- looks up the few patterns that match the type of an event, so it needs no scan.

create table outbox.subscription (
  org_id text not null,
  pattern text not null,
  endpoint_id uuid not null,
  filter jsonpath,
  created_at timestamptz not null,
  filter_text text,
  filter_weight integer not null default 0,
  primary key (org_id, pattern, endpoint_id)
);
comment on table outbox.subscription is
  'The event types that an endpoint receives: an exact type, a prefix such as order.*, or *. A '
  'subscription does not apply to events that are older than it. filter: the condition on the '
  'payload, true sends the event; filter_text: the text of the user; filter_weight: see '
  'read_filter().';
create index subscription_endpoint on outbox.subscription (endpoint_id);

create function outbox.type_patterns(p_type text) returns text[]
language plpgsql immutable strict set search_path = ''
as $$
declare
  v_parts text[] := pg_catalog.string_to_array(p_type, '.');
  v_patterns text[] := array['*'];
begin
  for v_n in 1 .. pg_catalog.cardinality(v_parts) - 1 loop
    v_patterns := v_patterns || (pg_catalog.array_to_string(v_parts[1:v_n], '.') || '.*');
  end loop;
  return v_patterns || p_type;
end
$$;
comment on function outbox.type_patterns(text) is
  'All patterns that match a type: for a.b.c these are *, a.*, a.b.* and a.b.c.';

create function outbox.check_filter_count(p_endpoint_id uuid) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_most constant integer := 4;
begin
  if (
    select pg_catalog.count(distinct s.filter_text) from outbox.subscription s
    where s.endpoint_id = p_endpoint_id
  ) > v_most then
    perform outbox.invalid('filter',
      'is too many: the endpoint has 4 different filters',
      pg_catalog.format('At most %s are allowed: join filters with ||, or create another endpoint',
        v_most));
  end if;
end
$$;
comment on function outbox.check_filter_count(uuid) is
  'Raises OH001 if an endpoint has more than 4 different filters, because routing may evaluate '
  'all of them for one event.';

create function outbox.subscribe(
  p_endpoint_id uuid, p_event_types text[], p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_org text := (outbox.lock_endpoint(p_endpoint_id)).org_id;
  v_pattern text;
  v_filter outbox.filter := row(null, 0);
begin
  if p_filter is not null then
    v_filter := outbox.read_filter(p_filter);
  end if;
  foreach v_pattern in array coalesce(p_event_types, '{}') loop
    if v_pattern is null or pg_catalog.octet_length(v_pattern) > 128
      or v_pattern !~ '^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$'
    then
      perform outbox.invalid('event_types',
        pg_catalog.format('contains %s',
          pg_catalog.quote_nullable(pg_catalog.left(v_pattern, 140))),
        'Expected an event type such as order.paid, a prefix such as order.*, or *');
    end if;
  end loop;
  insert into outbox.subscription as s (
    org_id, pattern, endpoint_id, filter, created_at, filter_text, filter_weight)
  select v_org, p.pattern, p_endpoint_id, v_filter.path, outbox.clock(), p_filter, v_filter.weight
  from (select distinct pg_catalog.unnest(p_event_types) as pattern) p
  on conflict (org_id, pattern, endpoint_id) do update set
    filter = excluded.filter, filter_text = excluded.filter_text,
    filter_weight = excluded.filter_weight;
  perform outbox.check_filter_count(p_endpoint_id);
  return (
    select pg_catalog.jsonb_build_object('endpoint_id', p_endpoint_id,
      'event_types', pg_catalog.jsonb_agg(s.pattern order by s.pattern))
    from outbox.subscription s where s.endpoint_id = p_endpoint_id
  );
end
$$;
comment on function outbox.subscribe(uuid, text[], text) is
  'Adds event types (exact, order.*, *) to an endpoint, each with the filter (see read_filter(), '
  'or null), which replaces an earlier one. Returns {"endpoint_id", "event_types": all of the '
  'endpoint}. OH001, OH002.';
