-- The rights of this folder: see foundation/rights.

select outbox.close_new();

grant execute on function
  outbox.put_whatsapp_app(text, text, boolean, interval),
  outbox.get_whatsapp_app(text),
  outbox.callback_app(text),
  outbox.receive_callbacks(text, text, jsonb),
  outbox.count_callbacks(jsonb),
  outbox.apply_callbacks(integer),
  outbox.put_reply_word(text, text, text, text, text),
  outbox.list_reply_words(text),
  outbox.create_channel(text, text, text, text, text, text, double precision, double precision),
  outbox.get_channel(text, uuid),
  outbox.get_channel_access(text, uuid),
  outbox.list_channels(text),
  outbox.set_channel_token(text, uuid, text, text),
  outbox.set_default_channel(text, uuid, text),
  outbox.update_channel(text, uuid, jsonb, text),
  outbox.resume_channel(text, uuid, text),
  outbox.delete_channel(text, uuid, text),
  outbox.list_opt_outs(text, text, text, integer),
  outbox.change_opt_out(text, text, text, boolean, text, text, text, text),
  outbox.get_person(text, text),
  outbox.part_person(text, text[], text),
  outbox.put_template(text, text, text, text, text, text, text),
  outbox.list_templates(text),
  outbox.delete_template(text, text, text),
  outbox.grant_consent(text, text, text[], text, text, text, text),
  outbox.revoke_consent(text, text, text[], text, text, text, text),
  outbox.list_consents(text, text),
  outbox.opt_out_recipient(text, text, text, text, text),
  outbox.opt_in_recipient(text, text, text, text),
  outbox.create_message(text, text, jsonb, text, text, text, text, uuid, text, text),
  outbox.get_message(text, text),
  outbox.list_messages(
    text, text, integer, text, text, text, timestamptz, timestamptz, text, text, text),
  outbox.count_messages(text),
  outbox.cancel_message(text, text, text, text),
  outbox.resend_message(text, text, text, boolean),
  outbox.list_inbound_messages(text, text, integer, text, uuid),
  outbox.list_activity(text, text, text, integer, text)
to service_role;
grant select on
  outbox.channel_kind, outbox.message_channel,
  outbox.outbound_message, outbox.message_attempt, outbox.outbound_attempt,
  outbox.activity, outbox.template, outbox.consent, outbox.opt_out, outbox.conversation_window,
  outbox.whatsapp_app, outbox.whatsapp_channel, outbox.whatsapp_update, outbox.callback_count,
  outbox.person, outbox.person_identifier, outbox.inbound_message, outbox.reply_word,
  outbox.channel_hold,
  outbox.template_hold, outbox.notice_rule, outbox.deleted_channel, outbox.early_report
to service_role;

-- The module messages ends here.
select outbox.record_module('messages');
