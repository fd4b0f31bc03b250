create type outbox.claimed_message as (
  event_id uuid,
  attempt integer,
  wait_ms integer
);
comment on type outbox.claimed_message is
  'A claimed message, and the time in ms to wait before it is sent.';

create function outbox.send_delays(p_claimed outbox.claimed) returns setof outbox.claimed_message
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  -- A run claims up to rate_burst messages of a number early. Each message is sent when its token
  -- would have been added. left_over: the tokens that the gate had left after this message.
  return query
  select x.event_id, x.attempt,
    -- A channel without a rate sends at once.
    coalesce(pg_catalog.ceil(greatest(0, e.rate_burst - 1 - x.left_over)
      / e.rate_per_second * 1000)::integer, 0)
  from (
    select c.event_id, c.attempt, c.endpoint_id,
      g.tokens + pg_catalog.count(*) over (
        partition by c.endpoint_id order by c.place desc
        rows between unbounded preceding and current row) - 1 as left_over
    from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts) with ordinality
      as c (event_id, endpoint_id, attempt, place)
    join outbox.message_channel w on w.endpoint_id = c.endpoint_id
    cross join lateral (
      select o.tokens from outbox.gate o
      where o.endpoint_id = c.endpoint_id order by o.changed_at desc limit 1
    ) g
  ) x
  join outbox.endpoint e on e.id = x.endpoint_id;
end
$$;
comment on function outbox.send_delays(outbox.claimed) is
  'The delay of each claimed message, so that the messages of a number are sent at even intervals '
  'however many were claimed at once.';

create function outbox.with_messages(
  p_parcel outbox.parcel, p_claimed outbox.claimed
) returns outbox.parcel
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_messages jsonb;
  v_channels jsonb;
begin
  select pg_catalog.jsonb_object_agg(x.event_id, pg_catalog.jsonb_build_object(
    'id', m.id::text, 'callback_data', outbox.callback_data(m.id, a.attempt_no),
    'to', m.to_recipient, 'wait_ms', x.wait_ms,
    'template', (
      select pg_catalog.jsonb_build_object('name', t.name, 'language', t.language,
        'parameter_format', t.parameter_format)
      from outbox.template t where t.org_id = m.org_id and t.code = m.template_code),
    'payload', m.payload_json))
  into v_messages
  from outbox.send_delays(p_claimed) x
  join outbox.message_attempt a on a.event_id = x.event_id and a.claim = x.attempt
  join outbox.outbound_message m on m.id = a.message_id;
  if v_messages is null then
    return p_parcel;
  end if;
  -- 97 %: a delayed run may send a little faster than it claims (96.5 %), within the limit.
  select pg_catalog.jsonb_object_agg(w.endpoint_id, pg_catalog.jsonb_build_object(
    'graph_url', outbox.setting_value('whatsapp.graph_url'),
    'graph_version',
      coalesce(w.graph_version, outbox.setting_value('whatsapp.graph_version') #>> '{}'),
    'phone_number_id', w.phone_number_id, 'spacing_ms', 1000 / (w.messages_per_second * 0.97),
    'access_token', outbox.vault_text(w.token_vault_id, 'the access token')))
  into v_channels
  from (select distinct u.id from pg_catalog.unnest(p_claimed.endpoints) as u (id)) c
  join outbox.whatsapp_channel w on w.endpoint_id = c.id;
  if v_channels is not null then
    p_parcel.endpoints := (
      select pg_catalog.json_object_agg(e.key, case
        when v_channels ? e.key
        then (e.value::jsonb || pg_catalog.jsonb_build_object('channel', v_channels -> e.key))::json
        else e.value
      end)
      from pg_catalog.json_each(p_parcel.endpoints) e);
  end if;
  p_parcel.events := (
    select pg_catalog.json_object_agg(e.key, case
      when v_messages ? e.key
      then (e.value::jsonb || pg_catalog.jsonb_build_object('message', v_messages -> e.key))::json
      else e.value
    end)
    from pg_catalog.json_each(p_parcel.events) e);
  return p_parcel;
end
$$;
comment on function outbox.with_messages(outbox.parcel, outbox.claimed) is
  'The parcel with each message (events[id].message: {"id", "callback_data", "to", "wait_ms", '
  '"template", "payload"}) and each WhatsApp channel (endpoints[id].channel: {"graph_url", '
  '"graph_version", "phone_number_id", "spacing_ms", "access_token"}).';

create or replace function outbox.on_parcel(
  p_parcel outbox.parcel, p_claimed outbox.claimed
) returns outbox.parcel
language plpgsql set search_path = ''
as $$
begin
  if exists (select from outbox.message_channel) then
    return outbox.with_messages(p_parcel, p_claimed);
  end if;
  return p_parcel;
end
$$;
