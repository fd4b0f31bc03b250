-- Subscriptions: which event types an endpoint wants, each with an optional filter. Routing reads
-- them by the patterns that a type matches, which are few and known, so it needs no scan.

create table outbox.subscription (
  org_id text not null,
  pattern text not null,
  endpoint_id uuid not null,
  filter jsonpath,
  created_at timestamptz not null,
  primary key (org_id, pattern, endpoint_id)
);
comment on table outbox.subscription is
  'Which event types an endpoint wants: an exact type, a prefix such as order.*, or *. An event '
  'goes to subscriptions that are not younger than it. filter is a jsonpath over the payload: '
  'the event goes where it finds something or is true.';
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
  'Every pattern that a type matches: a.b.c gives *, a.*, a.b.* and a.b.c.';

create function outbox.check_filter(p_filter text) returns jsonpath
language plpgsql immutable set search_path = ''
as $$
declare
  v_filter jsonpath;
  v_walks integer;
begin
  begin
    v_filter := p_filter::jsonpath;
  exception when syntax_error or invalid_text_representation or invalid_regular_expression
    or untranslatable_character or numeric_value_out_of_range
  then
    raise exception using errcode = 'OH001',
      message = pg_catalog.format('filter is not a jsonpath: %s', sqlerrm),
      hint = 'Expected something like $.total ? (@ > 100) or $.country == "DE"';
  end;
  -- Two walks multiply: $[*] ? (@ == $[*]) takes minutes for a payload of 256 KiB.
  select pg_catalog.count(*) into v_walks
  from pg_catalog.regexp_matches(
    pg_catalog.regexp_replace(v_filter::text, '"([^"\\]|\\.)*"', '""', 'g'),
    '\[\*\]|\.\*\*?|\[[^]]* to [^]]*\]', 'g');
  if v_walks > 1 then
    perform outbox.invalid('filter', 'walks the payload more than once',
      'Use [*], .*, .** or a range once; name the other members, or filter at the receiver');
  end if;
  return v_filter;
end
$$;
comment on function outbox.check_filter(text) is
  'The filter as jsonpath, or OH001: with the parser''s reason, or because its cost would grow '
  'with the square of the payload.';

create function outbox.subscribe(
  p_endpoint_id uuid, p_event_types text[], p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_org text := (outbox.lock_endpoint(p_endpoint_id)).org_id;
  v_pattern text;
begin
  foreach v_pattern in array coalesce(p_event_types, '{}') loop
    if v_pattern is null or v_pattern !~ '^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$'
      or pg_catalog.length(v_pattern) > 128
    then
      perform outbox.invalid('event_types',
        pg_catalog.format('holds %s', pg_catalog.quote_nullable(pg_catalog.left(v_pattern, 140))),
        'Expected an event type such as order.paid, a prefix such as order.*, or *');
    end if;
  end loop;
  insert into outbox.subscription as s (org_id, pattern, endpoint_id, filter, created_at)
  select v_org, p.pattern, p_endpoint_id, outbox.check_filter(p_filter), outbox.clock()
  from (select distinct pg_catalog.unnest(p_event_types) as pattern) p
  on conflict (org_id, pattern, endpoint_id) do update set filter = excluded.filter;
  return (
    select pg_catalog.jsonb_build_object('endpoint_id', p_endpoint_id,
      'event_types', pg_catalog.jsonb_agg(s.pattern order by s.pattern))
    from outbox.subscription s where s.endpoint_id = p_endpoint_id
  );
end
$$;
comment on function outbox.subscribe(uuid, text[], text) is
  'Adds event types (exact, order.*, *) to an endpoint, each with the filter (jsonpath over the '
  'payload, or null), which replaces an earlier one; returns {"endpoint_id", "event_types"} with '
  'all it has now. OH001, OH002.';
