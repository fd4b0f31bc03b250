-- Messages and rows of the audit trail in a search. The settings are those of found_events() in
-- api/search, for the same reason.

create function outbox.messages_of_correlation(
  p_org_id text, p_correlation_id text, p_limit integer
) returns bigint[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return array(
    select m.id from outbox.outbound_message m
    -- Ranges of one value, as in found_events(): a comparison of rows would read the organisation's
    -- messages of all lower correlation ids.
    where m.org_id = p_org_id and m.correlation_id >= p_correlation_id
      and m.correlation_id <= p_correlation_id and m.correlation_id is not null
    order by m.correlation_id desc, m.id desc limit p_limit);
end
$$;
comment on function outbox.messages_of_correlation(text, text, integer) is
  'The newest messages of an organisation with a correlation id.';

create function outbox.audit_of_correlation(
  p_org_id text, p_correlation_id text, p_limit integer
) returns bigint[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return array(
    select x.id from outbox.audit_event x
    where x.org_id = p_org_id and x.correlation_id >= p_correlation_id
      and x.correlation_id <= p_correlation_id and x.correlation_id is not null
    order by x.correlation_id desc, x.id desc limit p_limit);
end
$$;
comment on function outbox.audit_of_correlation(text, text, integer) is
  'The newest rows of the audit trail of an organisation with a correlation id: those of its '
  'messages, and those of messages that were refused.';

create or replace function outbox.found_messages(
  p_org_id text, p_event_ids uuid[], p_correlation_id text, p_key text, p_limit integer
) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_messages bigint[];
  v_audit bigint[];
begin
  v_messages := array(
    select m.id
    from pg_catalog.unnest(p_event_ids) u
    join outbox.outbound_message m on m.event_id = u and m.org_id = p_org_id
    union
    select m.id from outbox.outbound_message m
    where m.org_id = p_org_id and m.idempotency_key = p_key
    union
    select i
    from pg_catalog.unnest(
      outbox.messages_of_correlation(p_org_id, p_correlation_id, p_limit + 1)) i
    order by 1 desc limit p_limit + 1);
  v_audit := array(
    select a.id
    from pg_catalog.unnest(v_messages[:p_limit]) i
    cross join lateral (
      select x.id from outbox.audit_event x
      where x.org_id = p_org_id and x.entity_type = 'OUTBOUND_MESSAGE' and x.entity_id = i::text
      order by x.id desc limit p_limit + 1
    ) a
    union
    select i
    from pg_catalog.unnest(
      outbox.audit_of_correlation(p_org_id, p_correlation_id, p_limit + 1)) i
    order by 1 desc limit p_limit + 1);
  return pg_catalog.jsonb_build_object(
    'messages', coalesce((
      select pg_catalog.jsonb_agg(outbox.message_json(m) order by m.id desc)
      from pg_catalog.unnest(v_messages[:p_limit]) i
      join outbox.outbound_message m on m.id = i), '[]'),
    'auditEvents', coalesce((
      select pg_catalog.jsonb_agg(outbox.audit_event_json(x) order by x.id desc)
      from pg_catalog.unnest(v_audit[:p_limit]) i
      join outbox.audit_event x on x.id = i), '[]'),
    'moreOf', array(
      select l.name
      from (values ('messages', pg_catalog.cardinality(v_messages)),
        ('auditEvents', pg_catalog.cardinality(v_audit))) l (name, n)
      where l.n > p_limit));
end
$$;
comment on function outbox.found_messages(text, uuid[], text, text, integer) is
  'Extension point of search_org(): {"messages": those of these events, or with this correlation '
  'id or idempotency key, "auditEvents": their audit trail, and what has the correlation id, '
  '"moreOf": which of the two have more}, each newest first and at most p_limit.';
