create function outbox.record_statuses(
  p_changes outbox.status_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at, correlation_id)
  select m.org_id, 'OUTBOUND_MESSAGE', m.id::text, 'UPDATED',
    'Delivery status updated to: ' || c.status, null, p_now, m.correlation_id
  from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id, status,
    rank, at, wamid, code, title, details, is_new, was, arrives, is_copy, update_status, reason,
    place)
  cross join lateral (
    select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
  ) m
  where c.update_status = 'applied'
  order by c.place;
  insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
  select m.org_id, m.dossier_id, 'MESSAGE_STATUS_UPDATE',
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('messageId', m.id::text,
      'channel', m.channel, 'templateCode', m.template_code, 'status', m.status,
      'correlationId', m.correlation_id, 'deliveryStatus', c.status,
      'at', outbox.iso_time(c.at), 'errorCode', c.code, 'error', c.title,
      'details', c.details)), p_now
  from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id, status,
    rank, at, wamid, code, title, details, is_new, was, arrives, is_copy, update_status, reason,
    place)
  cross join lateral (
    select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
  ) m
  where c.update_status = 'applied' and m.dossier_id is not null
  order by c.place;
  perform outbox.record_arrivals(p_changes, p_now);
  perform outbox.publish_statuses(p_changes);
end
$$;
comment on function outbox.record_statuses(outbox.status_change[], timestamptz) is
  'Adds the audit rows, activity rows and events of applied statuses. judge_messages() has added '
  'those of messages that were sent or have failed.';

create function outbox.record_arrivals(
  p_changes outbox.status_change[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_row record;
  v_message outbox.outbound_message;
  v_text text;
begin
  for v_row in
    select m.message, c.status, c.at, c.is_copy, c.reason, a.attempt_no
    from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id,
      status, rank, at, wamid, code, title, details, is_new, was, arrives, is_copy, update_status,
      reason, place)
    cross join lateral (
      select x as message from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    cross join lateral (
      select x.attempt_no from outbox.message_attempt x where x.id = c.attempt_id offset 0
    ) a
    where c.arrives and c.update_status = 'skipped'
    order by c.place
  loop
    v_message := v_row.message;
    v_text := pg_catalog.format('Attempt %s was delivered %s', v_row.attempt_no, case
      when v_row.reason = 'message_cancelled' then 'although the message is cancelled'
      when v_row.is_copy then 'too: the recipient has the message twice'
      else 'although WhatsApp reported it as failed'
    end);
    perform outbox.audit_message(v_message, 'UPDATED', v_text, null, p_now);
    perform outbox.add_activity(v_message, 'MESSAGE_STATUS_UPDATE',
      pg_catalog.jsonb_build_object('deliveryStatus', v_row.status, 'note', v_text,
        'at', outbox.iso_time(v_row.at)), p_now);
  end loop;
end
$$;
comment on function outbox.record_arrivals(outbox.status_change[], timestamptz) is
  'Adds the audit and activity rows of what arrived although its message is cancelled, WhatsApp '
  'had reported a failure, or another attempt arrived before.';

create function outbox.publish_statuses(p_changes outbox.status_change[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_at timestamptz := outbox.event_time(pg_catalog.cardinality(p_changes) + 1);
begin
  with published as (
    insert into outbox.event (id, org_id, type, body, partition_key, correlation_id,
      idempotency_key, traceparent, created_at)
    select outbox.uuid_v7(v_at + c.place * interval '1 us'), m.org_id, 'whatsapp.message.status',
      pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
        'messageId', m.id::text, 'dossierId', m.dossier_id, 'channelId', m.channel_id,
        'templateCode', m.template_code, 'attempt', a.attempt_no, 'status', c.status,
        'messageStatus', m.status, 'at', outbox.iso_time(c.at), 'errorCode', c.code,
        'error', c.title, 'details', c.details, 'pricing', u.data -> 'pricing'))::text,
      -- The same key as the message's event, so that an ordered endpoint gets the events of a
      -- recipient in order.
      outbox.hash_person(m.to_recipient, (select outbox.hash_key())), m.correlation_id,
      u.key, (select outbox.current_traceparent()), v_at + c.place * interval '1 us'
    from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id,
      status, rank, at, wamid, code, title, details, is_new, was, arrives, is_copy, update_status,
      reason, place)
    cross join lateral (
      select x.key, x.data from outbox.whatsapp_update x where x.id = c.update_id offset 0
    ) u
    cross join lateral (
      select x.attempt_no from outbox.message_attempt x where x.id = c.attempt_id offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    where c.update_status = 'applied'
    order by c.place
    returning id, org_id
  )
  insert into outbox.unrouted (event_id, org_id) select t.id, t.org_id from published t;
  if found then
    perform outbox.kick_on_commit();
  end if;
end
$$;
comment on function outbox.publish_statuses(outbox.status_change[]) is
  'Publishes whatsapp.message.status for applied statuses: {"messageId", "dossierId", '
  '"channelId", "templateCode", "attempt", "status": as WhatsApp names it, "messageStatus", "at", '
  '"errorCode", "error", "details", "pricing"}, without the number and WhatsApp''s id. The '
  'correlation id is that of the message.';
