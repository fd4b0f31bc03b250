-- Subscriptions: the event types that an endpoint receives, each with an optional filter. Routing
-- looks up the few patterns that match the type of an event, so it needs no scan.
--
-- An event goes to the endpoints that were subscribed when it was published, although it is routed
-- later. So a subscription is not changed: it ends, and another one begins at the same time. A
-- subscription that has ended stays in ended_subscription until no event that is older can be
-- routed any more (engine/route/ended). docs/endpoints.md has the rules for users.
--
-- An example: endpoint e1 is created with {*} at 12:00, changed to {k.*} at 12:05, and deleted at
-- 12:09.
--
--   subscription after 12:05         e1 k.* from 12:05
--   ended_subscription after 12:05   e1 *   from 12:00 to 12:05
--   ended_subscription after 12:09   also e1 k.* from 12:05 to 12:09
--
-- The event k.a of 12:04 goes to e1 because of *, k.a of 12:05 and later because of k.*, and k.a of
-- 12:09 and later does not go to e1. The first two are cancelled if they are routed after 12:09.

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
  'The event types that an endpoint receives now: an exact type, a prefix such as order.*, or *. A '
  'subscription does not apply to events that are older than it. filter: the condition on the '
  'payload, true sends the event; filter_text: the text of the user; filter_weight: see '
  'read_filter().';
create index subscription_endpoint on outbox.subscription (endpoint_id);
-- The predicate is always true. It keeps the planner from using this index for lookups by pattern.
create index subscription_began on outbox.subscription (org_id, created_at) where org_id > '';

create trigger subscription_was_moved
  before insert or update or delete on outbox.subscription
  for each row execute function outbox.keep_moved();

create table outbox.ended_subscription (
  org_id text not null,
  pattern text not null,
  endpoint_id uuid not null,
  filter jsonpath,
  filter_weight integer not null,
  began_at timestamptz not null,
  ended_at timestamptz not null,
  open_below xid8,
  primary key (org_id, pattern, endpoint_id, ended_at),
  constraint ended_subscription_lasted check (began_at < ended_at)
);
comment on table outbox.ended_subscription is
  'Subscriptions that were changed or removed. They apply to events of began_at and later that are '
  'older than ended_at. open_below: every transaction that was open after the end has a smaller '
  'id; drop_ended_subscriptions() sets it.';
-- The predicate is always true. It keeps the planner from using this index for lookups by pattern.
create index ended_subscription_time on outbox.ended_subscription (org_id, ended_at)
where org_id > '';
create index ended_subscription_endpoint on outbox.ended_subscription (endpoint_id);

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
language plpgsql stable
set search_path = ''
set enable_seqscan = off
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

create function outbox.subscription_time(p_endpoint_id uuid) returns timestamptz
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
as $$
begin
  return greatest(outbox.event_time(),
    (select pg_catalog.max(s.created_at) from outbox.subscription s
      where s.endpoint_id = p_endpoint_id),
    (select pg_catalog.max(s.ended_at) from outbox.ended_subscription s
      where s.endpoint_id = p_endpoint_id));
end
$$;
comment on function outbox.subscription_time(uuid) is
  'The time of a change of the subscriptions of an endpoint: now, but not before its last change '
  'or an earlier event, because the clock may have been set back. The caller holds the endpoint.';

create function outbox.end_subscriptions(
  p_endpoint_id uuid, p_patterns text[], p_at timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  with ended as (
    -- With both conditions here, a plan for an empty table might read those of all endpoints.
    delete from outbox.subscription s
    where s.ctid = any (array(
      select o.row_at
      from (
        select n.ctid as row_at, n.pattern from outbox.subscription n
        where n.endpoint_id = p_endpoint_id offset 0
      ) o
      where o.pattern = any (p_patterns)))
    returning s.*
  )
  insert into outbox.ended_subscription (
    org_id, pattern, endpoint_id, filter, filter_weight, began_at, ended_at)
  select e.org_id, e.pattern, e.endpoint_id, e.filter, e.filter_weight, e.created_at, p_at
  from ended e
  -- No event is of a time between them.
  where e.created_at < p_at;
end
$$;
comment on function outbox.end_subscriptions(uuid, text[], timestamptz) is
  'Ends subscriptions at that time, the subscription_time() of the endpoint. They still apply to '
  'older events.';

create function outbox.check_change_count(p_endpoint_id uuid) returns void
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most constant integer := 100;
begin
  if (
    select pg_catalog.count(distinct s.ended_at) from outbox.ended_subscription s
    where s.endpoint_id = p_endpoint_id
  ) > v_most then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the event types of endpoint %s were changed %s times while '
        'older events wait to be routed', p_endpoint_id, v_most),
      hint = 'Wait a minute after these events are routed (unrouted of queue_health is 0), or '
        'create another endpoint';
  end if;
end
$$;
comment on function outbox.check_change_count(uuid) is
  'Raises OH004 after 100 changes whose subscriptions must be kept, because routing reads all of '
  'them.';

create function outbox.check_patterns(p_patterns text[]) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_pattern text;
begin
  foreach v_pattern in array coalesce(p_patterns, '{}') loop
    if v_pattern is null or pg_catalog.octet_length(v_pattern) > 128
      or v_pattern !~ '^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$'
    then
      perform outbox.invalid('event_types',
        pg_catalog.format('contains %s',
          pg_catalog.quote_nullable(pg_catalog.left(v_pattern, 140))),
        'Expected an event type such as order.paid, a prefix such as order.*, or *');
    end if;
  end loop;
end
$$;
comment on function outbox.check_patterns(text[]) is
  'Raises OH001 unless all of these may be subscribed to.';

create function outbox.put_subscriptions(
  p_endpoint outbox.endpoint, p_patterns text[], p_filter text, p_at timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_filter outbox.filter := row(null, 0);
  v_ended text[];
  v_added integer;
begin
  if p_filter is not null then
    v_filter := outbox.read_filter(p_filter);
  end if;
  perform outbox.check_patterns(p_patterns);
  v_ended := array(
    select s.pattern from outbox.subscription s
    where s.endpoint_id = p_endpoint.id and s.pattern = any (p_patterns)
      and s.filter_text is distinct from p_filter);
  perform outbox.end_subscriptions(p_endpoint.id, v_ended, p_at);
  insert into outbox.subscription (
    org_id, pattern, endpoint_id, filter, created_at, filter_text, filter_weight)
  select p_endpoint.org_id, p.pattern, p_endpoint.id, v_filter.path, p_at, p_filter,
    v_filter.weight
  from (select distinct pg_catalog.unnest(p_patterns) as pattern) p
  on conflict (org_id, pattern, endpoint_id) do nothing;
  get diagnostics v_added = row_count;
  -- A change of the filter alone is allowed above a limit too.
  if v_added > pg_catalog.cardinality(v_ended) then
    perform outbox.check_subscription_limits(p_endpoint);
  end if;
  perform outbox.check_filter_count(p_endpoint.id);
  perform outbox.check_change_count(p_endpoint.id);
end
$$;
comment on function
  outbox.put_subscriptions(outbox.endpoint, text[], text, timestamptz) is
  'Adds subscriptions with this filter that begin at that time, the subscription_time() of the '
  'endpoint. One that has the same filter already is not changed; one with another filter ends. '
  'OH001, OH004, OH010. The caller holds the endpoint and, if it may add a type, the turn of the '
  'organisation (take_endpoint_turn()).';

create function outbox.add_subscriptions(
  p_endpoint_id uuid, p_event_types text[], p_filter text default null
) returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoint outbox.endpoint;
begin
  perform outbox.take_endpoint_turn((outbox.check_endpoint(p_endpoint_id)).org_id);
  v_endpoint := outbox.lock_endpoint(p_endpoint_id);
  perform outbox.put_subscriptions(v_endpoint, p_event_types, p_filter,
    outbox.subscription_time(p_endpoint_id));
  return (
    select pg_catalog.jsonb_build_object('endpoint_id', p_endpoint_id,
      'event_types', pg_catalog.jsonb_agg(s.pattern order by s.pattern))
    from outbox.subscription s where s.endpoint_id = p_endpoint_id
  );
end
$$;
comment on function outbox.add_subscriptions(uuid, text[], text) is
  'What subscribe() does, but no row in the audit trail.';

create function outbox.subscribe(
  p_endpoint_id uuid, p_event_types text[], p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.add_subscriptions(p_endpoint_id, p_event_types, p_filter);
begin
  perform outbox.note_change(p_endpoint_id, array['eventTypes']
    || case when p_filter is not null then array['filter'] end, null);
  return v_result;
end
$$;
comment on function outbox.subscribe(uuid, text[], text) is
  'Adds event types (exact, order.*, *) to an endpoint, each with the filter (see read_filter(), '
  'or null), which replaces an earlier one. Events that were published before keep the event types '
  'and filters of that time. Returns {"endpoint_id", "event_types": all of the endpoint}. OH001, '
  'OH002; OH004: changed 100 times while older events wait to be routed; OH010: a limit of '
  'subscriptions is reached.';
