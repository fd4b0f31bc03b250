-- The walk: org-visitor calls each function that takes an object of an organisation. A word in braces is an object
-- that both organisations have (_tenants.sql). Each call is made with only its own objects, and then with each
-- combination of its own and the victim's.
--
-- Arguments of `walk`: the expected outcome with own objects, the expected outcome with the victim's, and the calls. An
-- outcome is 'works' or a SQLSTATE; OH002 means that there is no such object.
set local search_path = helper, extensions;

create table call (n integer generated always as identity, text text, function text, own text, foreign_ text);
create function walk(p_own text, p_foreign text, p_calls text) returns void language sql as $$
  insert into helper.call (text, function, own, foreign_)
  select c, substring(c from '^\w+'), p_own, p_foreign
  from regexp_split_to_table(p_calls, '\n') l (line), btrim(line) c where c <> ''
$$;

-- What takes an endpoint, a delivery, an event.
select walk('works', 'OH002', $$
  get_org_endpoint(p_org_id => {org}, p_endpoint_id => {endpoint})
  update_org_endpoint(p_org_id => {org}, p_endpoint_id => {endpoint}, p_change => '{"description": "x"}')
  delete_org_endpoint(p_org_id => {org}, p_endpoint_id => {endpoint})
  pause_org_endpoint(p_org_id => {org}, p_endpoint_id => {endpoint})
  resume_org_endpoint(p_org_id => {org}, p_endpoint_id => {parked})
  test_org_endpoint(p_org_id => {org}, p_endpoint_id => {endpoint})
  get_org_test(p_org_id => {org}, p_endpoint_id => {endpoint}, p_event_id => '{own e.delivered}')
  get_org_stats(p_org_id => {org}, p_endpoint_id => {endpoint})
  get_retry_config(p_org_id => {org}, p_endpoint_id => {endpoint})
  set_retry_config(p_org_id => {org}, p_endpoint_id => {endpoint})
  set_retry_config(p_org_id => {org}, p_endpoint_id => {endpoint}, p_policy => '{"strategy": "fixed", "baseDelay": 5}')
  get_org_secret(p_org_id => {org}, p_endpoint_id => {endpoint})
  rotate_org_secret(p_org_id => {org}, p_endpoint_id => {endpoint})
  expire_org_secret(p_org_id => {org}, p_endpoint_id => {endpoint}, p_secret_id => {secret})
  get_event(p_org_id => {org}, p_event_id => {e.letter})
  get_delivery(p_org_id => {org}, p_event_id => {e.letter}, p_endpoint_id => {endpoint})
  get_delivery(p_org_id => {org}, p_event_id => {e.delivered}, p_endpoint_id => {endpoint})
  get_delivery(p_org_id => {org}, p_event_id => {e.pending}, p_endpoint_id => {open})
  list_attempts(p_org_id => {org}, p_event_id => {e.letter}, p_endpoint_id => {endpoint})
  act_on_delivery(p_org_id => {org}, p_event_id => {e.retrying}, p_endpoint_id => {open}, p_action => 'retry')
  act_on_delivery(p_org_id => {org}, p_event_id => {e.letter}, p_endpoint_id => {endpoint}, p_action => 'replay')
  act_on_delivery(p_org_id => {org}, p_event_id => {e.pending}, p_endpoint_id => {open}, p_action => 'cancel')
  get_dead_letter(p_org_id => {org}, p_id => {letter})
  replay_dead_letter(p_org_id => {org}, p_id => {letter})
  discard_org_dead_letter(p_org_id => {org}, p_id => {letter}, p_reason => 'x')
  get_replay_job(p_org_id => {org}, p_id => {job})
  change_replay_job(p_org_id => {org}, p_id => {job}, p_status => 'paused')
  change_replay_job(p_org_id => {org}, p_id => {job}, p_status => 'cancelled')
  create_replay_job(p_org_id => {org}, p_job => jsonb_build_object('endpointId', {endpoint}))
  preview_replay_job(p_org_id => {org}, p_job => jsonb_build_object('endpointId', {endpoint}))
  create_replay_job(p_org_id => {org}, p_job => jsonb_build_object('endpointId', {endpoint}, 'error', 'HTTP 404'))
  preview_replay_job(p_org_id => {org}, p_job => jsonb_build_object('endpointId', {endpoint}, 'error', 'HTTP 404'))
  create_backfill(p_org_id => {org}, p_endpoint_id => {endpoint}, p_job => '{"includeDelivered": true}')
  preview_backfill(p_org_id => {org}, p_endpoint_id => {endpoint}, p_job => '{"includeDelivered": true}')
  get_saga_execution(p_org_id => {org}, p_id => {execution})
  get_event_type(p_org_id => {org}, p_type => {type})
  delete_event_type(p_org_id => {org}, p_type => {type})
  publish(p_type => 'a.b', p_payload => '{}', p_org_id => {org}, p_endpoint_id => {endpoint})
  publish_raw(p_type => 'a.b', p_body => '{}', p_org_id => {org}, p_endpoint_id => {endpoint})
  publish_many(p_events => jsonb_build_array(jsonb_build_object('type', 'a.b', 'payload', '{}'::jsonb, 'org_id', {org}, 'endpoint_id', {endpoint})))
  publish_once(p_event => jsonb_build_object('type', 'a.b', 'payload', '{}'::jsonb, 'org_id', {org}, 'endpoint_id', {endpoint}))
  publish_events(p_org_id => {org}, p_events => jsonb_build_array(jsonb_build_object('type', 'a.b', 'payload', '{}'::jsonb, 'endpoint_id', {endpoint})))
$$);

-- What takes a message, a person's dossier, a template, a channel.
select walk('works', 'OH002', $$
  get_message(p_org_id => {org}, p_message_id => {message})
  cancel_message(p_org_id => {org}, p_message_id => {message}, p_actor => 'x')
  resend_message(p_org_id => {org}, p_message_id => {m.failed}, p_actor => 'x')
  delete_template(p_org_id => {org}, p_code => {template})
  get_channel(p_org_id => {org}, p_channel_id => {channel})
  get_channel_access(p_org_id => {org}, p_channel_id => {channel})
  set_channel_token(p_org_id => {org}, p_channel_id => {channel}, p_access_token => 'x')
  set_default_channel(p_org_id => {org}, p_channel_id => {channel})
  update_channel(p_org_id => {org}, p_channel_id => {channel}, p_change => '{"description": "x", "accessToken": "x", "isDefault": true}')
  resume_channel(p_org_id => {org}, p_channel_id => {channel})
  delete_channel(p_org_id => {org}, p_channel_id => {channel})
  create_message(p_org_id => {org}, p_to => '+12025550150', p_payload => '{"parameters": []}', p_template_code => 'reminder', p_channel_id => {channel})
$$);
select walk('works', 'OH001', $$
  create_message(p_org_id => {org}, p_to => '+12025550150', p_payload => '{"parameters": []}', p_template_code => {template})
$$);
-- Without consent of the dossier the answer is a refusal, which is stored as one's own.
select walk('works', 'works', $$
  create_message(p_org_id => {org}, p_to => {person}, p_payload => '{"parameters": ["Anna"]}', p_template_code => 'reminder', p_dossier_id => {dossier})
  create_message(p_org_id => {org}, p_to => '+12025550150', p_payload => '{"parameters": ["Anna"]}', p_template_code => 'reminder', p_idempotency_key => 'key-new-' || {word}, p_correlation_id => {word})
$$);

-- A filter by what is another's finds nothing.
select walk('works', 'works', $$
  get_org_overview(p_org_id => {org})
  list_org_endpoints(p_org_id => {org})
  list_org_endpoints(p_org_id => {org}, p_status => 'paused')
  list_org_endpoints(p_org_id => {org}, p_search => {word})
  list_org_endpoints(p_org_id => {org}, p_cursor => {c.endpoints})
  list_org_endpoints(p_org_id => {org}, p_health => 'held')
  list_org_attempts(p_org_id => {org})
  list_org_attempts(p_org_id => {org}, p_outcome => 'failed')
  list_org_attempts(p_org_id => {org}, p_endpoint_id => {endpoint})
  list_org_attempts(p_org_id => {org}, p_cursor => {c.org_attempts})
  get_org_test(p_org_id => {org}, p_endpoint_id => '{own endpoint}', p_event_id => {e.delivered})
  list_events(p_org_id => {org})
  list_events(p_org_id => {org}, p_cursor => {c.events})
  list_events(p_org_id => {org}, p_event_type => {type})
  list_events(p_org_id => {org}, p_event_type => 'endpoint.letter')
  list_events(p_org_id => {org}, p_partition_key => {word})
  list_event_types(p_org_id => {org})
  list_event_types(p_org_id => {org}, p_cursor => {c.types})
  list_event_type_changes(p_org_id => {org})
  list_event_type_changes(p_org_id => {org}, p_event_type => {type})
  list_event_type_changes(p_org_id => {org}, p_cursor => {c.changes})
  read_catalogue(p_org_id => {org})
  read_catalogue(p_org_id => {org}, p_with_types => false)
  list_deliveries(p_org_id => {org})
  list_deliveries(p_org_id => {org}, p_cursor => {c.deliveries})
  list_deliveries(p_org_id => {org}, p_endpoint_id => {endpoint})
  list_deliveries(p_org_id => {org}, p_endpoint_id => {open}, p_cursor => {c.deliveries}, p_status => 'pending')
  list_deliveries(p_org_id => {org}, p_event_type => 'endpoint.letter')
  list_deliveries(p_org_id => {org}, p_event_type => {type})
  list_dead_letters(p_org_id => {org})
  group_dead_letters(p_org_id => {org})
  group_dead_letters(p_org_id => {org}, p_endpoint_id => {endpoint})
  list_dead_letters(p_org_id => {org}, p_cursor => {c.letters})
  list_dead_letters(p_org_id => {org}, p_endpoint_id => {endpoint})
  list_dead_letters(p_org_id => {org}, p_endpoint_id => {endpoint}, p_cursor => {c.letters}, p_status => 'open')
  list_dead_letters(p_org_id => {org}, p_event_type => 'endpoint.letter')
  list_dead_letters(p_org_id => {org}, p_event_type => {type})
  list_dead_letters(p_org_id => {org}, p_error => {word})
  list_attempts(p_org_id => {org}, p_event_id => '{own e.redelivered}', p_endpoint_id => '{own endpoint}', p_cursor => {c.attempts})
  list_replay_jobs(p_org_id => {org})
  list_replay_jobs(p_org_id => {org}, p_cursor => {c.jobs})
  list_messages(p_org_id => {org})
  list_messages(p_org_id => {org}, p_cursor => {c.messages})
  list_messages(p_org_id => {org}, p_dossier_id => {dossier})
  list_messages(p_org_id => {org}, p_channel => 'WHATSAPP')
  list_messages(p_org_id => {org}, p_recipient => {person})
  list_messages(p_org_id => {org}, p_idempotency_key => 'key-message-' || {word})
  list_messages(p_org_id => {org}, p_correlation_id => 'cart-message-' || {word})
  try_filter(p_org_id => {org}, p_filter => 'exists($.x)')
  try_filter(p_org_id => {org}, p_filter => '$.x == 1', p_event_types => '{a.*}', p_limit => 10)
  list_org_settings(p_org_id => {org})
  list_org_settings(p_org_id => {org}, p_all => true)
  list_inbound_messages(p_org_id => {org})
  list_inbound_messages(p_org_id => {org}, p_recipient => {person})
  list_inbound_messages(p_org_id => {org}, p_channel_id => {channel})
  list_inbound_messages(p_org_id => {org}, p_cursor => {c.inbound})
  search_org(p_org_id => {org}, p_correlation_id => {e.letter})
  search_org(p_org_id => {org}, p_idempotency_key => 'key-event-' || {word})
  search_org(p_org_id => {org}, p_idempotency_key => 'key-message-' || {word})
  search_org(p_org_id => {org}, p_correlation_id => 'cart-message-' || {word})
  list_activity(p_org_id => {org})
  list_activity(p_org_id => {org}, p_activity_type => 'MESSAGE_SENT')
  list_audit_events(p_org_id => {org}, p_audit_action => 'CREATED')
  list_audit_events(p_org_id => {org}, p_correlation_id => 'cart-message-' || {word})
  count_messages(p_org_id => {org})
  list_activity(p_org_id => {org}, p_dossier_id => {dossier})
  list_activity(p_org_id => {org}, p_dossier_id => {dossier}, p_cursor => {c.activity})
  list_consents(p_org_id => {org}, p_dossier_id => {dossier})
  list_audit_events(p_org_id => {org})
  list_audit_events(p_org_id => {org}, p_cursor => {c.audit})
  list_audit_events(p_org_id => {org}, p_actor => 'sql:postgres')
  list_audit_events(p_org_id => {org}, p_from => '2000-01-01', p_to => '2100-01-01')
  list_audit_events(p_org_id => {org}, p_entity_type => 'ENDPOINT', p_entity_id => {endpoint})
  list_audit_events(p_org_id => {org}, p_entity_type => 'DELIVERY', p_entity_id => {e.letter} || '.' || {endpoint})
  list_audit_events(p_org_id => {org}, p_entity_type => 'REPLAY_JOB', p_entity_id => {job})
  list_audit_events(p_org_id => {org}, p_entity_type => 'EVENT_TYPE', p_entity_id => {type})
  list_audit_events(p_org_id => {org}, p_entity_type => 'OUTBOUND_MESSAGE', p_entity_id => {message})
  list_audit_events(p_org_id => {org}, p_entity_type => 'CHANNEL', p_entity_id => {channel})
  list_audit_events(p_org_id => {org}, p_entity_type => 'DOSSIER', p_entity_id => {dossier})
  list_audit_events(p_org_id => {org}, p_entity_type => 'TEMPLATE', p_entity_id => {template})
  list_opt_outs(p_org_id => {org})
  list_opt_outs(p_org_id => {org}, p_cursor => {c.opt_outs})
  list_opt_outs(p_org_id => {org}, p_recipient => {person})
  list_templates(p_org_id => {org})
  list_channels(p_org_id => {org})
  list_reply_words(p_org_id => {org})
  recent_deliveries(p_org_id => {org})
$$);
-- Each value that a list filters by.
select walk('works', 'works', string_agg(format(c, v), E'\n')) from (values
  ('list_deliveries(p_org_id => {org}, p_status => %L)', array['pending', 'processing', 'retrying', 'held', 'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error']),
  ('list_dead_letters(p_org_id => {org}, p_status => %L)', array['open', 'replayed', 'delivered', 'discarded']),
  ('list_messages(p_org_id => {org}, p_status => %L)', array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED']),
  ('list_audit_events(p_org_id => {org}, p_entity_type => %L)', array['OUTBOUND_MESSAGE', 'CHANNEL', 'TEMPLATE', 'DOSSIER', 'PERSON', 'REPLY_WORD', 'ENDPOINT', 'DELIVERY', 'REPLAY_JOB', 'PORTAL_TOKEN', 'EVENT_TYPE', 'EVENT_CATALOGUE', 'SETTING', 'WHATSAPP_APP'])
) t (c, vs), unnest(vs) v;

-- What takes a person that the organisation knows.
select walk('works', 'OH002', $$
  get_person(p_org_id => {org}, p_recipient => {person})
$$);
select walk('OH004', 'OH002', $$
  part_person(p_org_id => {org}, p_recipients => array[{person}])
$$);

-- A name is each organisation's own, and so is a key: what the victim made under it is not found.
select walk('works', 'works', $$
  put_event_type(p_org_id => {org}, p_type => {type}, p_description => 'x')
  set_catalogue(p_org_id => {org}, p_strict => true)
  put_template(p_org_id => {org}, p_code => {template}, p_name => 'x', p_language => 'fr', p_category => 'UTILITY')
  grant_consent(p_org_id => {org}, p_dossier_id => {dossier}, p_purposes => '{MARKETING}', p_source => 'x')
  revoke_consent(p_org_id => {org}, p_dossier_id => {dossier}, p_purposes => '{UTILITY}', p_source => 'x')
  opt_out_recipient(p_org_id => {org}, p_recipient => {person}, p_source => 'x')
  opt_in_recipient(p_org_id => {org}, p_recipient => {person})
  change_opt_out(p_org_id => {org}, p_recipient => {person}, p_purpose => 'ALL', p_opted_out => true, p_source => 'x')
  change_opt_out(p_org_id => {org}, p_recipient => {person}, p_purpose => 'MARKETING', p_opted_out => false, p_source => 'x')
  change_opt_out(p_org_id => {org}, p_recipient => {person}, p_purpose => 'MARKETING', p_opted_out => true, p_source => 'x', p_evidence => 'x')
  put_reply_word(p_org_id => {org}, p_language => 'fr', p_word => 'arret', p_action => 'START')
  take_requests(p_org_id => {org}, p_count => 1)
  publish(p_type => 'a.b', p_payload => '{}', p_org_id => {org}, p_idempotency_key => 'key-' || {word}, p_partition_key => {word}, p_correlation_id => {word})
  publish_raw(p_type => 'a.b', p_body => '{}', p_org_id => {org}, p_idempotency_key => 'key-' || {word}, p_partition_key => {word}, p_correlation_id => {word})
  publish_events(p_org_id => {org}, p_events => jsonb_build_array(jsonb_build_object('type', 'made.b', 'payload', '{}'::jsonb, 'org_id', {org})), p_key => 'key-' || {word}, p_catalogue => {word})
  create_endpoint(p_url => 'https://example.com/x', p_org_id => {org})
  create_slack_endpoint(p_url => 'https://hooks.slack.com/services/T0/B0/x', p_org_id => {org})
  create_broker_endpoint(p_kind => 'kafka', p_broker => '{"brokers": ["kafka.example.com:9092"], "topic": "t"}', p_org_id => {org})
  create_channel(p_org_id => {org}, p_phone_number_id => '100000000000009', p_waba_id => '200000000000001', p_app_id => {app}, p_access_token => 'x')
$$);
-- The victim's very request under the victim's very key: it is made anew, and answered with nothing of the victim's.
select walk('works', 'works', $$
  create_org_endpoint(p_org_id => {org}, p_endpoint => jsonb_build_object('url', format('https://example.com/%1$s/%1$s', {word}), 'eventTypes', '["made.a"]'::jsonb), p_key => 'key-endpoint-' || {word})
  put_event_type(p_org_id => {org}, p_type => 'new.' || {word}, p_description => 'x', p_create => true, p_key => 'key-type-new-' || {word})
  create_replay_job(p_org_id => {org}, p_job => '{"eventType": "no.such"}', p_key => 'key-job-' || {word})
  create_backfill(p_org_id => {org}, p_endpoint_id => '{own endpoint}', p_job => '{}', p_key => 'key-fill-' || {word})
  record_portal_token(p_org_id => {org}, p_key => 'key-token-' || {word}, p_token => jsonb_build_object('id', 'x', 'issuedAt', 2, 'scopes', '[]'::jsonb))
  revoke_portal_token(p_org_id => {org}, p_id => '00000000-0000-4000-8000-000000000001')
  revoke_portal_tokens(p_org_id => {org})
  list_revoked_portal_tokens(p_org_id => {org}, p_cursor => {c.revoked})
  publish(p_type => 'made.c', p_payload => '{}', p_org_id => {org}, p_idempotency_key => 'key-event-' || {word})
  publish_raw(p_type => 'made.c', p_body => '{}', p_org_id => {org}, p_idempotency_key => 'key-event-' || {word})
  publish_many(p_events => jsonb_build_array(jsonb_build_object('type', 'made.c', 'payload', '{}'::jsonb, 'org_id', {org}, 'idempotency_key', 'key-event-' || {word})))
  publish_events(p_org_id => {org}, p_events => jsonb_build_array(jsonb_build_object('type', 'made.b', 'payload', jsonb_build_object('own', {word}))), p_key => 'key-batch-' || {word})
  execute_saga(p_name => 'checkout', p_context => jsonb_build_object('own', {word}), p_org_id => {org}, p_idempotency_key => 'key-saga-' || {word})
  execute_org_saga(p_org_id => {org}, p_name => 'checkout', p_context => jsonb_build_object('own', {word})::text, p_key => 'key-saga-' || {word})
  begin_saga(p_name => 'checkout', p_context => jsonb_build_object('own', {word}), p_org_id => {org}, p_idempotency_key => 'key-saga-' || {word})
  end_saga(p_org_id => {org}, p_idempotency_key => 'key-saga-' || {word}, p_result => '{}')
$$);
select walk('works', 'works', $$
  rotate_org_secret(p_org_id => {org}, p_endpoint_id => '{own endpoint}', p_key => 'key-secret-' || {word})
  create_message(p_org_id => {org}, p_to => {person}, p_payload => '{"parameters": ["Anna"]}', p_template_code => 'reminder', p_dossier_id => {dossier}, p_idempotency_key => 'key-message-' || {word}) /* together */
$$);
-- What both have under one name, or have asked for under one key, is each one's own.
select walk('works', null, $$
  get_event_type(p_org_id => {org}, p_type => 'both.type')
  delete_event_type(p_org_id => {org}, p_type => 'both.type')
  put_event_type(p_org_id => {org}, p_type => 'both.type', p_description => 'x')
  put_template(p_org_id => {org}, p_code => 'reminder', p_name => 'x', p_language => 'fr', p_category => 'UTILITY')
  delete_template(p_org_id => {org}, p_code => 'reminder')
  list_consents(p_org_id => {org}, p_dossier_id => 'dossier')
  list_activity(p_org_id => {org}, p_dossier_id => 'dossier')
  list_messages(p_org_id => {org}, p_dossier_id => 'dossier')
  list_audit_events(p_org_id => {org}, p_entity_type => 'DOSSIER', p_entity_id => 'dossier')
  list_audit_events(p_org_id => {org}, p_entity_type => 'TEMPLATE', p_entity_id => 'reminder')
  grant_consent(p_org_id => {org}, p_dossier_id => 'dossier', p_purposes => '{MARKETING}', p_source => 'x')
  revoke_consent(p_org_id => {org}, p_dossier_id => 'dossier', p_purposes => '{UTILITY}', p_source => 'x')
  create_message(p_org_id => {org}, p_to => '+12025550150', p_payload => '{"parameters": []}', p_template_code => 'reminder', p_dossier_id => 'dossier')
  list_opt_outs(p_org_id => {org}, p_recipient => '+12025550199')
  opt_in_recipient(p_org_id => {org}, p_recipient => '+12025550199', p_purpose => 'MARKETING')
  opt_out_recipient(p_org_id => {org}, p_recipient => '+12025550199', p_source => 'x')
  change_opt_out(p_org_id => {org}, p_recipient => '+12025550199', p_purpose => 'MARKETING', p_opted_out => false, p_source => 'x')
  put_reply_word(p_org_id => {org}, p_language => 'fr', p_word => 'arret', p_action => 'NONE')
  create_org_endpoint(p_org_id => {org}, p_endpoint => '{"url": "https://example.com/visitors/both", "eventTypes": ["made.a"]}', p_key => 'key-endpoint-both')
  rotate_org_secret(p_org_id => {org}, p_endpoint_id => '{own endpoint}', p_key => 'key-secret-both')
  put_event_type(p_org_id => {org}, p_type => 'both.type', p_description => 'visitors description', p_create => true, p_key => 'key-type-both')
  record_portal_token(p_org_id => {org}, p_key => 'key-token-both', p_token => '{"id": "x", "issuedAt": 2, "scopes": []}')
  publish(p_type => 'made.c', p_payload => '{}', p_org_id => {org}, p_idempotency_key => 'key-event-both')
  publish_many(p_events => jsonb_build_array(jsonb_build_object('type', 'made.c', 'payload', '{}'::jsonb, 'org_id', {org}, 'idempotency_key', 'key-event-both')))
  publish_events(p_org_id => {org}, p_events => '[{"type": "made.b", "payload": {"own": "visitors"}}]', p_key => 'key-batch-both')
  execute_saga(p_name => 'checkout', p_context => '{"own": "visitors"}', p_org_id => {org}, p_idempotency_key => 'key-saga-both')
  begin_saga(p_name => 'checkout', p_context => '{"own": "visitors"}', p_org_id => {org}, p_idempotency_key => 'key-saga-both')
  end_saga(p_org_id => {org}, p_idempotency_key => 'key-begun-both', p_result => '{}')
  create_replay_job(p_org_id => {org}, p_job => '{"eventType": "visitors"}', p_key => 'key-job-both')
  create_message(p_org_id => {org}, p_to => '+12025550151', p_payload => '{"parameters": ["Anna"]}', p_template_code => 'reminder', p_dossier_id => 'dossier', p_idempotency_key => 'key-message-both')
$$);
-- The number is another organisation's already.
select walk('OH001', 'OH001', $$
  create_channel(p_org_id => {org}, p_phone_number_id => {number}, p_waba_id => '200000000000001', p_app_id => '900000000000001', p_access_token => 'x')
$$);

-- No lane of theirs is halted.
select walk('OH004', 'OH004', $$
  resume_lane(p_endpoint_id => {endpoint}, p_partition_key => {word})
$$);

-- Functions of the operator take no organisation: with the secret key a caller may name any object. They change no other
-- object, and a pair of ids from two organisations names none.
select walk('works', null, $$
  delete_endpoint(p_endpoint_id => {endpoint})
  disable_endpoint(p_endpoint_id => {endpoint})
  pause_endpoint(p_endpoint_id => {endpoint})
  resume_endpoint(p_endpoint_id => {parked})
  backfill_events(p_endpoint_id => {endpoint}, p_types => array[{type}]) /* together */
  send_test_event(p_endpoint_id => {endpoint})
  check_installation(p_event_id => {e.letter})
  org_of_event(p_event_id => {e.letter})
  read_secret(p_endpoint_id => {endpoint})
  rotate_secret(p_endpoint_id => {endpoint})
  expire_secret(p_secret_id => {secret})
  set_headers(p_endpoint_id => {endpoint}, p_headers => '{}')
  set_slack_url(p_endpoint_id => {slack}, p_url => 'https://hooks.slack.com/services/T0/B0/x')
  set_broker(p_endpoint_id => {broker}, p_broker => '{"topic": "x"}')
  subscribe(p_endpoint_id => {endpoint}, p_event_types => array['x'])
  route_again(p_event_id => {e.unroutable})
  replay_many(p_org_id => {org})
  mark_delivered(p_until => outbox.clock(), p_org_id => {org})
  set_replay_job(p_id => {job}, p_status => 'paused')
  get_whatsapp_app(p_app_id => {app})
  put_whatsapp_app(p_app_id => {app}, p_secret => 'x')
  callback_app(p_app_key => 'a-key-of-nobody-00')
$$);
select walk('works', 'OH002', $$
  mark_delivered(p_until => outbox.clock(), p_org_id => {org}, p_endpoint_id => {endpoint})
  retry_now(p_event_id => {e.retrying}, p_endpoint_id => {open})
  schedule_retry(p_event_id => {e.retrying}, p_endpoint_id => {open}, p_delay => '1 minute')
  cancel_delivery(p_event_id => {e.pending}, p_endpoint_id => {open})
  replay(p_event_id => {e.letter}, p_endpoint_id => {endpoint})
  discard_dead_letter(p_event_id => {e.letter}, p_endpoint_id => {endpoint}, p_reason => 'x')
$$);
select walk('works', 'works', $$
  replay_many(p_org_id => {org}, p_endpoint_id => {endpoint}, p_event_type => {type})
  claim_broker_replay(p_event_id => {e.letter}, p_endpoint_id => {endpoint}, p_kind => 'kafka', p_topic => 't')
  record_broker_replay(p_event_id => {e.letter}, p_endpoint_id => {endpoint})
  dispatch(p_run => '00000000-0000-7000-8000-000000000001', p_seq => nextval('helper.seq'), p_results => jsonb_build_array(jsonb_build_object('event', {e.processing}, 'endpoint', {open}, 'attempt', 1, 'outcome', 'delivered', 'status', 200)))
  receive_callbacks(p_app_id => '{own app}', p_org_id => {org}, p_updates => jsonb_build_array(jsonb_build_object('kind', 'status', 'field', 'messages', 'key', 'walk', 'waba_id', '200000000000001', 'phone_number_id', {number}, 'wamid', {wamid}, 'status', 'delivered', 'at', 1772366480, 'data', '{}'::jsonb)))
$$);

-- Parameters that name no object of an organisation.
create table plain_parameter (name text primary key);
insert into plain_parameter
select unnest(array['p_limit', 'p_published', 'p_from', 'p_to', 'p_until', 'p_due_from', 'p_due_to', 'p_outcome', 'p_health', 'p_by_subscription', 'p_include_delivered', 'p_hours', 'p_minutes', 'p_reason', 'p_why', 'p_actor', 'p_source', 'p_evidence', 'p_purpose', 'p_purposes',
  'p_opted_out', 'p_channel', 'p_status', 'p_audit_action', 'p_activity_type', 'p_all', 'p_entity_type', 'p_action', 'p_language', 'p_word', 'p_category', 'p_parameter_format',
  'p_description', 'p_payload', 'p_body', 'p_schema', 'p_create', 'p_strict', 'p_deliver_at', 'p_traceparent', 'p_policy',
  'p_version', 'p_change', 'p_overlap', 'p_overlap_seconds', 'p_secret', 'p_url', 'p_headers', 'p_filter', 'p_event_types', 'p_timeout_ms',
  'p_ordering', 'p_max_in_flight', 'p_quantum', 'p_retry', 'p_rate_per_second', 'p_kind', 'p_broker', 'p_credentials', 'p_access_token',
  'p_messages_per_second', 'p_pair_seconds', 'p_waba_id', 'p_allow_unsigned', 'p_context', 'p_result', 'p_count', 'p_delay', 'p_failed_from',
  'p_failed_to', 'p_endpoint', 'p_token', 'p_run', 'p_seq', 'p_ended', 'p_known', 'p_contract', 'p_held', 'p_by_token', 'p_force', 'p_with_types', 'p_topic', 'p_exchange']);
-- Functions that take no object of an organisation, with the reason.
create table plain_function (name text primary key, why text);
insert into plain_function
select n, w from (values
  ('settings and sums of the whole outbox', 'set_setting set_org_setting get_health get_metrics queue_backlog gate_totals last_tick_at alive_since queue_problems list_workers list_runs count_requests count_callbacks'),
  ('rules that read no row of anybody', 'calculate_delay is_retryable preview_schedule preview_retry_config retry_preset uuid_v7_time version stored_from'),
  ('sagas are defined for all organisations', 'define_saga drop_saga list_sagas get_saga run_step check_handler'),
  ('the inbox is one for the application, by consumer', 'accept_once consume list_consumers report_dead_message take_events'),
  ('an operator reads all organisations', 'list_all_dead_letters'),
  ('it takes no id: updates name their number when they come', 'apply_callbacks')
) t (w, ns), regexp_split_to_table(ns, ' ') n;
