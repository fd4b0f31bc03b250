create function outbox.act_on_delivery(
  p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
  case p_action
    when 'retry' then
      perform outbox.check_is_open(p_event_id, p_endpoint_id, 'Use replay to send it again');
      perform outbox.retry_now(p_event_id, p_endpoint_id);
    when 'replay' then
      perform outbox.replay(p_event_id, p_endpoint_id);
    when 'cancel' then
      perform outbox.check_is_open(p_event_id, p_endpoint_id,
        'Only an open delivery can be cancelled');
      perform outbox.cancel_delivery(p_event_id, p_endpoint_id, p_reason);
    else
      perform outbox.check_choice('action', p_action, array['retry', 'replay', 'cancel']);
  end case;
  return outbox.delivery_json(p_event_id, p_endpoint_id);
end
$$;
comment on function outbox.act_on_delivery(text, uuid, uuid, text, text) is
  'Executes retry (due now), replay or cancel and returns the new delivery_json(). OH001; OH002; '
  'OH004: the delivery is in flight or finished.';

create function outbox.check_is_open(
  p_event_id uuid, p_endpoint_id uuid, p_remedy text
) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if not exists (
    select from outbox.delivery d
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
  ) and not exists (
    -- A delivery that the database rejected counts as open.
    select from outbox.refusal r
    where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id and r.step = 'routing'
  ) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('delivery %s.%s is finished', p_event_id, p_endpoint_id),
      hint = p_remedy;
  end if;
end
$$;
comment on function outbox.check_is_open(uuid, uuid, text) is
  'Raises OH004 if the delivery is not open.';
