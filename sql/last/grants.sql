-- Every right in one place. Public functions are doors: SECURITY DEFINER with a pinned search_path,
-- open to service_role by name. Tables can be written by their owner alone; service_role reads them
-- through the views. anon and authenticated have nothing here. A new function is open to PUBLIC
-- until it is revoked, and no default privilege of one schema changes that: each later migration
-- repeats its revoke.

do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid from pg_catalog.pg_class c
    where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p')
  loop
    execute pg_catalog.format('alter table %s enable row level security', v_table);
  end loop;
end
$$;

revoke all on all tables in schema outbox from public, anon, authenticated, service_role;
revoke all on all sequences in schema outbox from public, anon, authenticated, service_role;
revoke all on all functions in schema outbox from public, anon, authenticated, service_role;

grant usage on schema outbox to service_role;
grant execute on function
  outbox.version(),
  outbox.recent_deliveries(text, integer),
  outbox.set_setting(text, jsonb),
  outbox.create_endpoint(
    text, text[], text, text, text, jsonb, text, integer, text, integer, integer, jsonb,
    double precision, text),
  outbox.create_slack_endpoint(text, text[], text, text, jsonb, text),
  outbox.set_slack_url(uuid, text),
  outbox.create_broker_endpoint(
    text, jsonb, jsonb, text[], text, text, text, text, jsonb, text),
  outbox.set_broker(uuid, jsonb, jsonb),
  outbox.set_headers(uuid, jsonb),
  outbox.rotate_secret(uuid, text, interval),
  outbox.expire_secret(uuid),
  outbox.read_secret(uuid),
  outbox.subscribe(uuid, text[], text),
  outbox.pause_endpoint(uuid, text),
  outbox.resume_endpoint(uuid),
  outbox.disable_endpoint(uuid, text),
  outbox.delete_endpoint(uuid),
  outbox.send_test_event(uuid),
  outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_raw(text, text, text, text, text, text, uuid, timestamptz, text),
  outbox.publish_many(jsonb),
  outbox.calculate_delay(jsonb, integer),
  outbox.is_retryable(text, integer, text, text),
  outbox.preview_schedule(jsonb),
  outbox.schedule_retry(uuid, uuid, interval),
  outbox.retry_now(uuid, uuid),
  outbox.cancel_delivery(uuid, uuid, text),
  outbox.resume_lane(uuid, text),
  outbox.replay(uuid, uuid),
  outbox.replay_many(text, uuid, text, timestamptz, timestamptz, integer),
  outbox.set_replay_job(text, text),
  outbox.discard_dead_letter(uuid, uuid, text),
  outbox.route_again(uuid),
  outbox.define_saga(text, jsonb),
  outbox.drop_saga(text),
  outbox.execute_saga(text, jsonb, text, text, text),
  outbox.execute_org_saga(text, text, text, text, text),
  outbox.begin_saga(text, jsonb, text, text),
  outbox.run_step(text, integer, text, jsonb),
  outbox.end_saga(text, text, jsonb),
  outbox.accept_once(text, text),
  outbox.check_handler(text),
  outbox.consume(text, text, text, text),
  outbox.report_dead_message(text, text, text, text, text, text, text, integer),
  outbox.create_org_endpoint(text, jsonb, text),
  outbox.get_org_endpoint(text, uuid),
  outbox.list_org_endpoints(text, text, integer, text),
  outbox.update_org_endpoint(text, uuid, jsonb, integer),
  outbox.delete_org_endpoint(text, uuid, integer),
  outbox.get_retry_config(text, uuid),
  outbox.set_retry_config(text, uuid, jsonb, integer),
  outbox.preview_retry_config(jsonb),
  outbox.get_org_secret(text, uuid),
  outbox.rotate_org_secret(text, uuid, text, integer, text),
  outbox.expire_org_secret(text, uuid, uuid),
  outbox.pause_org_endpoint(text, uuid, text),
  outbox.resume_org_endpoint(text, uuid),
  outbox.test_org_endpoint(text, uuid),
  outbox.get_org_test(text, uuid, uuid),
  outbox.get_org_stats(text, uuid, integer),
  outbox.take_requests(text, integer),
  outbox.note_requests(jsonb),
  outbox.get_metrics(),
  outbox.note_portal_token(text, text, jsonb),
  outbox.list_dead_letters(
    text, uuid, text, text, timestamptz, timestamptz, text, integer),
  outbox.get_dead_letter(text, uuid),
  outbox.replay_dead_letter(text, uuid),
  outbox.discard_org_dead_letter(text, uuid, text),
  outbox.create_replay_job(text, jsonb, text),
  outbox.get_replay_job(text, text),
  outbox.list_replay_jobs(text, text, integer),
  outbox.change_replay_job(text, text, text),
  outbox.get_health(),
  outbox.waiting(),
  outbox.problems(jsonb),
  outbox.last_tick_at(),
  outbox.gate_totals(),
  outbox.publish_events(text, jsonb, text, text),
  outbox.get_event(text, uuid),
  outbox.list_events(text, text, timestamptz, timestamptz, text, integer),
  outbox.read_catalogue(text),
  outbox.set_catalogue(text, boolean),
  outbox.put_event_type(text, text, text, json, boolean, text),
  outbox.get_event_type(text, text),
  outbox.list_event_types(text, text, integer),
  outbox.delete_event_type(text, text),
  outbox.get_delivery(text, uuid, uuid),
  outbox.act_on_delivery(text, uuid, uuid, text, text),
  outbox.list_attempts(text, uuid, uuid, text, integer),
  outbox.list_deliveries(text, text, uuid, text, timestamptz, timestamptz, text, integer),
  outbox.put_whatsapp_app(text, text, boolean, interval),
  outbox.get_whatsapp_app(text),
  outbox.callback_app(text),
  outbox.receive_callbacks(text, text, jsonb),
  outbox.apply_callbacks(integer),
  outbox.put_reply_word(text, text, text, text, text),
  outbox.list_reply_words(text),
  outbox.create_channel(
    text, text, text, text, text, text, double precision, double precision),
  outbox.get_channel(text, uuid),
  outbox.list_channels(text),
  outbox.set_channel_token(text, uuid, text, text),
  outbox.set_default_channel(text, uuid, text),
  outbox.update_channel(text, uuid, jsonb, text),
  outbox.resume_channel(text, uuid, text),
  outbox.delete_channel(text, uuid, text),
  outbox.list_opt_outs(text, text, text, integer),
  outbox.change_opt_out(text, text, text, boolean, text, text, text),
  outbox.put_template(text, text, text, text, text, text, text),
  outbox.list_templates(text),
  outbox.delete_template(text, text, text),
  outbox.grant_consent(text, text, text[], text, text, text, text),
  outbox.revoke_consent(text, text, text[], text, text, text, text),
  outbox.list_consents(text, text),
  outbox.opt_out_recipient(text, text, text, text, text),
  outbox.opt_in_recipient(text, text, text, text),
  outbox.create_message(text, text, jsonb, text, text, text, text, uuid, text),
  outbox.get_message(text, text),
  outbox.list_messages(
    text, text, integer, text, text, text, timestamptz, timestamptz),
  outbox.count_messages(text),
  outbox.cancel_message(text, text, text, text),
  outbox.resend_message(text, text, text),
  outbox.list_audit_events(text, text, integer, text, text),
  outbox.list_activity(text, text, text, integer),
  outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb)
to service_role;
grant select on
  outbox.setting, outbox.event, outbox.event_default, outbox.unrouted, outbox.unroutable,
  outbox.routing_timeout,
  outbox.endpoint, outbox.subscription, outbox.gate, outbox.lane, outbox.delivery, outbox.attempt,
  outbox.attempt_default, outbox.dead_letter, outbox.refusal, outbox.endpoint_refusal,
  outbox.replay_job, outbox.failure_rule, outbox.endpoint_kind,
  outbox.error_hint, outbox.run, outbox.saga, outbox.saga_step, outbox.consumer_inbox,
  outbox.outbound_message, outbox.message_attempt, outbox.outbound_attempt, outbox.audit_event,
  outbox.activity, outbox.template, outbox.consent, outbox.opt_out, outbox.conversation_window,
  outbox.whatsapp_app, outbox.whatsapp_channel, outbox.whatsapp_update, outbox.callback_count,
  outbox.whatsapp_contact, outbox.inbound_message, outbox.reply_word, outbox.channel_hold,
  outbox.template_hold, outbox.notice_rule,
  outbox.delivery_status, outbox.relay_status,
  outbox.webhook_outbox, outbox.saga_outbox,
  outbox.transaction_outbox, outbox.endpoint_status, outbox.queue_health
to service_role;
grant execute on function outbox.retry_preset(text), outbox.uuid_v7_time(uuid) to service_role;
grant insert on outbox.webhook_outbox to service_role;
