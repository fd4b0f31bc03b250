-- Two organisations, org-visitor and org-victim, with one object of each kind; names that are unique only within an
-- organisation are the same. `thing` lists the objects by the word that _walk.sql puts between braces.
set local search_path = helper, extensions;

create table thing (org text, name text, value text not null, primary key (org, name));
create table org (id text primary key, own text, number_id text, app_id text, recipient text);
insert into org values
  ('org-visitor', 'visitors', '100000000000001', '900000000000001', '+12025550101'),
  ('org-victim', 'victims', '100000000000002', '900000000000002', '+12025550102');

create function own(p_org text, p_name text, p_value text) returns void language sql as $$
  insert into helper.thing values (p_org, p_name, p_value)
$$;
create function got(p_org text, p_name text) returns text language sql stable as $$
  select value from helper.thing where org = p_org and name = p_name
$$;

create schema shop;
create function shop.step(p_context jsonb) returns jsonb language sql as $$ select jsonb_build_object('step', 1) $$;
-- A step runs with the rights of its caller.
grant usage on schema shop to service_role;
select outbox.define_saga('checkout', '[{"function": "shop.step", "event_type": "saga.step"}]', p_by_tokens => true);

-- Endpoints, one for each thing that may happen to a delivery, and what lies around them.
create function own_endpoints(o org) returns void language plpgsql as $$
declare
  v_word text;
begin
  foreach v_word in array array['endpoint', 'open', 'ended', 'parked'] loop
    perform own(o.id, v_word, endpoint(array[v_word || '.*'], p_org_id => o.id, p_retry => plain_retry(0))::text);
    update outbox.endpoint set description = o.own || ' ' || v_word where id = got(o.id, v_word)::uuid;
  end loop;
  perform outbox.rotate_org_secret(o.id, got(o.id, 'endpoint')::uuid);
  perform own(o.id, 'secret', (select id::text from outbox.endpoint_secret where endpoint_id = got(o.id, 'endpoint')::uuid order by expires_at nulls last limit 1));
  perform outbox.set_headers(got(o.id, 'endpoint')::uuid, jsonb_build_object('x-own', o.own));
  perform own(o.id, 'slack', outbox.create_slack_endpoint('https://hooks.slack.com/services/T0/B0/' || o.own, '{slack.*}', o.id) ->> 'id');
  perform own(o.id, 'broker', outbox.create_broker_endpoint('kafka', '{"brokers": ["kafka.example.com:9092"], "topic": "t"}', null, '{broker.*}', o.id) ->> 'id');
  -- Requests under keys: one that both have used, and one of each.
  for v_word in select unnest(array['both', o.own]) loop
    perform outbox.create_org_endpoint(o.id, jsonb_build_object('url', format('https://example.com/%s/%s', o.own, v_word), 'eventTypes', '["made.a"]'::jsonb), 'key-endpoint-' || v_word);
    perform outbox.rotate_org_secret(o.id, got(o.id, 'endpoint')::uuid, p_key => 'key-secret-' || v_word);
    perform outbox.put_event_type(o.id, v_word || '.type', o.own || ' description', null, true, 'key-type-' || v_word);
    perform outbox.record_portal_token(o.id, jsonb_build_object('id', o.own, 'issuedAt', 1, 'scopes', '[]'::jsonb), 'key-token-' || v_word);
    perform outbox.revoke_portal_token(o.id, gen_random_uuid());
    perform outbox.publish_events(o.id, jsonb_build_array(jsonb_build_object('type', 'made.b', 'payload', jsonb_build_object('own', o.own))), null, 'key-batch-' || v_word);
    perform outbox.publish('made.c', '{}', o.id, p_idempotency_key => 'key-event-' || v_word);
    perform outbox.execute_saga('checkout', jsonb_build_object('own', o.own), o.id, 'key-saga-' || v_word);
    perform outbox.begin_saga('checkout', jsonb_build_object('own', o.own), o.id, 'key-begun-' || v_word);
  end loop;
  perform own(o.id, 'keyed', (select event_id::text from outbox.idempotency_key where org_id = o.id and key = 'key-event-both'));
  perform own(o.id, 'type', o.own || '.type');
  perform own(o.id, 'execution', outbox.execute_saga('checkout', '{}', o.id) ->> 'id');
end
$$;

-- Deliveries of every status; the engine works for both organisations at a time.
create function own_deliveries() returns void language plpgsql as $$
declare
  o org;
  v_answer jsonb;
  v_word text;
begin
  -- To each endpoint an event that is to end in its own way.
  for o in select * from org order by id loop
    foreach v_word in array array['letter', 'discarded', 'replayed', 'redelivered', 'delivered', 'event'] loop
      perform own(o.id, 'e.' || v_word, (events(1, 'endpoint.' || v_word, p_payload => jsonb_build_object('own', o.own), p_org_id => o.id))[1]::text);
    end loop;
    perform own(o.id, 'e.dead', (events(1, 'ended.dead', p_org_id => o.id))[1]::text);
  end loop;
  v_answer := step();
  perform step(0, (
    select jsonb_agg(r || case
      when e.type in ('endpoint.delivered', 'endpoint.event', 'made.a', 'made.b', 'made.c') then '{"outcome": "delivered", "status": 200}'::jsonb
      else '{"outcome": "failed", "status": 500, "error": "refused"}' end)
    from jsonb_array_elements(results(v_answer, 'failed')) r join outbox.event e on e.id = (r ->> 'event')::uuid));
  for o in select * from org order by id loop
    perform outbox.discard_dead_letter(got(o.id, 'e.discarded')::uuid, got(o.id, 'endpoint')::uuid, o.own),
      outbox.replay(got(o.id, 'e.redelivered')::uuid, got(o.id, 'endpoint')::uuid);
  end loop;
  perform send();
end
$$;

-- What is open in the end, which nothing may claim any more.
create function own_open() returns void language plpgsql as $$
declare
  o org;
begin
  for o in select * from org order by id loop
    perform own(o.id, 'e.retrying', (events(1, 'open.retrying', p_org_id => o.id))[1]::text);
    update outbox.endpoint set retry = plain_retry(5) where id = got(o.id, 'open')::uuid;
  end loop;
  perform fail(500);
  for o in select * from org order by id loop
    perform outbox.replay(got(o.id, 'e.replayed')::uuid, got(o.id, 'endpoint')::uuid);
    perform own(o.id, 'e.processing', (events(1, 'open.processing', p_org_id => o.id))[1]::text);
  end loop;
  perform step();
  for o in select * from org order by id loop
    perform outbox.pause_endpoint(got(o.id, 'parked')::uuid, o.own);
    perform own(o.id, 'e.held', (events(1, 'parked.held', p_org_id => o.id))[1]::text),
      own(o.id, 'e.pending', (events(1, 'open.pending', p_org_id => o.id))[1]::text),
      own(o.id, 'e.cancelled', (events(1, 'open.cancelled', p_org_id => o.id))[1]::text),
      own(o.id, 'e.unroutable', (events(1, 'open.unroutable', p_org_id => o.id))[1]::text);
    perform own(o.id, 'message', message_id(message(o.recipient, p_org_id => o.id))::text),
      own(o.id, 'm.cancelled', message_id(message(o.recipient, p_org_id => o.id))::text);
    perform outbox.cancel_message(o.id, got(o.id, 'm.cancelled'), o.own, o.own);
  end loop;
  perform step(0);
  for o in select * from org order by id loop
    perform outbox.cancel_delivery(got(o.id, 'e.cancelled')::uuid, got(o.id, 'open')::uuid, o.own);
    -- Ends that take days, or a filter that fails.
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
    select got(o.id, 'keyed')::uuid, got(o.id, w)::uuid, 1, outbox.clock(), 'close', x
    from (values ('slack', 'expired'), ('broker', 'filter_error')) t (w, x);
    insert into outbox.unroutable (event_id, org_id, error, set_aside_at) values (got(o.id, 'e.unroutable')::uuid, o.id, o.own, outbox.clock());
    -- One of them alone is strict about its types.
    perform outbox.set_catalogue(o.id, o.own = 'victims');
    perform own(o.id, 'letter', (select id::text from outbox.dead_letter where event_id = got(o.id, 'e.letter')::uuid));
  end loop;
end
$$;

-- People, messages in every status, and a channel each.
create function own_messages() returns void language plpgsql as $$
declare
  o org;
begin
  for o in select * from org order by id loop
    perform own(o.id, 'channel', channel(o.id, o.number_id, o.app_id)::text), own(o.id, 'app', o.app_id),
      own(o.id, 'number', o.number_id), own(o.id, 'person', o.recipient), own(o.id, 'dossier', o.own || '-dossier'),
      own(o.id, 'template', template(o.own || '-template', p_org_id => o.id)), own(o.id, 'word', o.own);
    perform outbox.set_default_channel(o.id, got(o.id, 'channel')::uuid);
    perform template('reminder', p_org_id => o.id);
    perform outbox.grant_consent(o.id, d, '{UTILITY}', o.own, o.own, o.own) from unnest(array['dossier', o.own || '-dossier']) d;
    perform outbox.opt_out_recipient(o.id, '+12025550199', o.own, 'MARKETING'), outbox.opt_out_recipient(o.id, o.recipient, o.own, 'MARKETING');
    perform outbox.put_reply_word(o.id, 'fr', 'arret', 'STOP', o.own);
    -- A word that has a meaning for all, and for one of them another.
    perform outbox.put_reply_word(o.id, 'nl', case o.own when 'victims' then 'afmelden' else 'uitschrijven' end, 'NONE');
    perform own(o.id, 'm.sent', message_id(message(o.recipient, 'key-message-' || o.own, o.own || '-dossier', o.id, p_correlation_id => 'cart-message-' || o.own))::text);
  end loop;
  perform time_passes('10 seconds'), take_all(), time_passes('10 seconds');
  for o in select * from org order by id loop
    perform own(o.id, 'wamid', (select provider_message_id from outbox.outbound_message where id = got(o.id, 'm.sent')::bigint));
    perform message(case o.own when 'victims' then '+12025550152' else '+12025550151' end, 'key-message-both', 'dossier', o.id);
    perform own(o.id, 'm.failed', message_id(message(o.recipient, p_dossier => o.own || '-dossier', p_org_id => o.id))::text);
  end loop;
  perform send('failed', '{"status": 400, "code": "131026", "error": "undeliverable"}');
  perform time_passes('10 seconds');
  for o in select * from org order by id loop
    perform outbox.receive_callbacks(o.app_id, o.id, jsonb_build_array(jsonb_build_object('kind', 'message', 'field', 'messages', 'key', 'in-' || o.own,
      'waba_id', '200000000000001', 'phone_number_id', o.number_id, 'wamid', 'wamid.in.' || o.own, 'wa_id', ltrim(o.recipient, '+'),
      'at', extract(epoch from outbox.clock())::bigint, 'data', jsonb_build_object('type', 'text', 'text', jsonb_build_object('body', o.own)))));
  end loop;
  perform step(0);
end
$$;

-- A cursor of each list, as its owner gets it with the first row.
create function own_cursors(o org) returns void language plpgsql as $do$
declare
  v_list record;
begin
  for v_list in
    select * from (values
      ('endpoints', $$list_org_endpoints($1, p_limit => 1)$$), ('events', $$list_events($1, p_limit => 1)$$), ('types', $$list_event_types($1, p_limit => 1)$$), ('changes', $$list_event_type_changes($1, p_limit => 1)$$),
      ('deliveries', $$list_deliveries($1, p_limit => 1)$$), ('letters', $$list_dead_letters($1, p_limit => 1)$$), ('messages', $$list_messages($1, p_limit => 1)$$),
      ('audit', $$list_audit_events($1, p_limit => 1)$$), ('activity', $$list_activity($1, helper.got($1, 'dossier'), p_limit => 1)$$),
      ('revoked', $$list_revoked_portal_tokens($1, p_limit => 1)$$), ('opt_outs', $$list_opt_outs($1, p_limit => 1)$$), ('jobs', $$list_replay_jobs($1, p_limit => 1)$$),
      ('org_attempts', $$list_org_attempts($1, p_limit => 1)$$),
      ('attempts', $$list_attempts($1, helper.got($1, 'e.redelivered')::uuid, helper.got($1, 'endpoint')::uuid, p_limit => 1)$$)) t (name, call)
  loop
    execute format('insert into helper.thing select $1, %L, outbox.%s ->> ''nextCursor''', 'c.' || v_list.name, v_list.call) using o.id;
  end loop;
  -- Each has one inbound message, so its list has no cursor.
  perform own(o.id, 'c.inbound', outbox.key_to_cursor((select m.id + 1 from outbox.inbound_message m where m.org_id = o.id)::text));
end
$do$;

do $$
declare
  v_org org;
begin
  for v_org in select * from org order by id loop
    perform own_endpoints(v_org);
  end loop;
  perform own_deliveries();
  for v_org in select * from org order by id loop
    perform own(v_org.id, 'job', outbox.create_replay_job(v_org.id, '{"eventType": "no.such"}', 'key-job-' || v_org.own) ->> 'id');
    perform outbox.create_replay_job(v_org.id, jsonb_build_object('eventType', v_org.own), 'key-job-both');
    perform outbox.create_replay_job(v_org.id, '{"eventType": "no.such"}');
  end loop;
  perform own_messages();
  perform own_open();
  for v_org in select * from org order by id loop
    perform own_cursors(v_org);
  end loop;
end
$$;
