-- Review of a dead letter without a replay. A dead letter that is neither replayed nor discarded
-- never expires.

create function outbox.discard_dead_letter(
  p_event_id uuid, p_endpoint_id uuid, p_reason text
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if coalesce(pg_catalog.btrim(p_reason), '') = '' then
    perform outbox.invalid('reason', 'is empty', 'Give the reason why it will not be sent');
  end if;
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  perform outbox.refuse_change(e.org_id) from outbox.endpoint e where e.id = p_endpoint_id;
  update outbox.dead_letter x set discarded_at = outbox.clock(), note = p_reason
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s has no dead letter for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text),
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'Find it with: select * from outbox.dead_letter';
  end if;
  perform outbox.note_delivery(p_event_id, p_endpoint_id, 'DISCARDED',
    pg_catalog.format('Dead letter discarded: %s', p_reason));
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'discarded', true);
end
$$;
comment on function outbox.discard_dead_letter(uuid, uuid, text) is
  'Marks a dead letter as reviewed and not to be sent: {"event_id", "endpoint_id", "discarded": '
  'true}. Cleanup deletes it after dead_letter.retention_days. OH001, OH002.';
