-- An endpoint that moves here from another database of its organisation is paused until the other
-- database has deleted it (see moves/spread_status). Only open_endpoint() ends this pause, because
-- otherwise both databases could deliver to it.

create function outbox.arrival_reason(p_from text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return 'the endpoint moves here from ' || p_from;
end
$$;
comment on function outbox.arrival_reason(text) is
  'The status_reason of an endpoint that has not arrived yet. p_from: the name of the source.';

create function outbox.arrives_from(p_endpoint outbox.endpoint) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_endpoint.status = 'paused'
      and pg_catalog.starts_with(p_endpoint.status_reason, outbox.arrival_reason(''))
    then pg_catalog.substr(p_endpoint.status_reason,
      pg_catalog.length(outbox.arrival_reason('')) + 1)
  end;
end
$$;
comment on function outbox.arrives_from(outbox.endpoint) is
  'The name of the database from which an endpoint moves here, and that may still have it; null: '
  'none.';

create function outbox.refuse_arrival(p_endpoint outbox.endpoint) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_from constant text := outbox.arrives_from(p_endpoint);
begin
  if v_from is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s moves here from %s, which may still deliver to it',
        p_endpoint.id, v_from),
      hint = 'Run outhook spread-org again: it continues the move';
  end if;
end
$$;
comment on function outbox.refuse_arrival(outbox.endpoint) is
  'Raises OH004 for an endpoint that has not arrived yet: enabled, it would be delivered to by two '
  'databases, and with another reason the command would take it for one that has arrived.';
