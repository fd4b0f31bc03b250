-- An endpoint that moves here from another database of its organisation is paused until the other
-- database has deleted it (see moves/spread_status). Only open_endpoint() ends this pause, because
-- otherwise both databases could deliver to it. Its status_reason says that it has not arrived, so
-- check_reason() refuses such a text as the reason of a caller.

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
  'databases, with another reason the command would take it for one that has arrived, and every '
  'other change is lost if the command begins again with what the source has.';

create function outbox.check_reason(p_reason text) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_begin text;
begin
  foreach v_begin in array array[
    outbox.arrival_reason(''), 'the organisation moves ', 'unreadable: ', 'held:']
  loop
    if pg_catalog.starts_with(p_reason, v_begin) then
      perform outbox.invalid('reason',
        pg_catalog.format('starts with %L, which only Outhook writes', v_begin),
        'Begin it with another word');
    end if;
  end loop;
end
$$;
comment on function outbox.check_reason(text) is
  'Raises OH001 for a reason of a pause or of disabling that Outhook would take for its own: of an '
  'endpoint that moves, alone (arrives_from) or with its organisation (move_reason), that cannot '
  'be read (why_unreadable), or of a channel that is held (hold_channel). Null is none.';
