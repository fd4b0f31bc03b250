import type { Mutant } from '../mutant.ts'

export const messages: readonly Mutant[] = [
  {
    file: 'sql/messages/message/create_message.sql',
    find: 'if v_existing.id is not null and v_existing.content <> p_message.content then',
    replace: 'if false then',
    tests: ['sql/messages/create_message/idempotency.test.sql'],
    why: 'A second message with a used key is dropped without a word.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: 'where m.org_id = p_message.org_id and m.idempotency_key = p_message.idempotency_key;',
    replace: 'where m.idempotency_key = p_message.idempotency_key;',
    tests: ['sql/messages/create_message/idempotency.test.sql'],
    why: 'A key of one organisation gives the message of another.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find:
      `p_message.to_recipient, p_message.template_code, p_message.payload_json)::text, 'UTF8'));`,
    replace: `p_message.template_code, p_message.payload_json)::text, 'UTF8'));`,
    tests: ['sql/messages/create_message/idempotency.test.sql'],
    why: 'The same key for another recipient counts as a repeat.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: `    where t.org_id = p_org_id and t.code = p_template_code;
`,
    replace: `    where t.code = p_template_code;
`,
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'A template of another organisation is used.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: '> 65536 then',
    replace: '> 655360 then',
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'A payload of 600 kB is stored.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: `    perform outbox.audit_refusal(v_message, v_check.refusal, p_actor, v_now);
`,
    replace: '',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'A refused message leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find:
      `  perform outbox.audit_message(v_message, 'CREATED', 'Message created', v_message.created_by,
    p_now);
`,
    replace: '',
    tests: ['sql/messages/message/lifecycle.test.sql'],
    why: 'A created message leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: `          when outbox.is_template_held(v_message) then interval '1 minute'
`,
    replace: `          when false then interval '1 minute'
`,
    tests: ['sql/messages/receive_callbacks/notices.test.sql'],
    why: 'A template that WhatsApp has paused is sent.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: `    v_code := 'consent_revoked';
`,
    replace: `    null;
`,
    tests: [
      'sql/messages/create_message/refusals.test.sql',
      'sql/messages/message/lifecycle.test.sql',
      'sql/engine/regressions/a_refused_message_spoils_no_other.test.sql',
    ],
    why: 'A message that was stopped by a revocation says that consent was never there.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: `    perform outbox.fail_message(p_message, v_code, outbox.refusal_text(v_code), p_now);
`,
    replace: `    null;
`,
    tests: [
      'sql/messages/create_message/refusals.test.sql',
      'sql/messages/message/lifecycle.test.sql',
      'sql/messages/message/refused_among_others.test.sql',
    ],
    why: 'A message whose consent is gone stays QUEUED for ever.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: `coalesce(pg_catalog.max(a.attempt_no), 0) + 1, 'TRYING'`,
    replace: `1, 'TRYING'`,
    tests: ['sql/messages/message/lifecycle.test.sql'],
    why: 'A second attempt cannot be begun.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: `p_message.status not in ('QUEUED', 'SENDING') and not`,
    replace: `p_message.status not in ('QUEUED', 'SENDING', 'SENT') and not`,
    tests: ['sql/messages/message/sent_once.test.sql'],
    why: 'A message that was taken is sent a second time.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'not_before = greatest(l.not_before, p_now + p_for),',
    replace: 'not_before = p_now + p_for,',
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'A short rest takes back a longer one.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: `  v_message.channel_id := p_channel_id;
`,
    replace: `  v_message.channel_id := outbox.check_channel(p_org_id, p_channel_id);
`,
    tests: ['sql/messages/create_message/idempotency.test.sql'],
    why: 'A repeated request is a conflict, or not found, after the default channel has changed.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `if v_message.delivered_at is not null and p_force is not true then`,
    replace: `if false then`,
    tests: ['sql/messages/judge/cases.test.sql'],
    why: 'A message that arrived is sent a second time.',
  },
  {
    file: 'sql/messages/callback/callback_record.sql',
    find: `  perform outbox.record_arrivals(p_changes, p_now);
`,
    replace: '',
    tests: ['sql/messages/judge/cases.test.sql'],
    why: 'Nobody hears that a cancelled message arrived.',
  },
  {
    file: 'functions/_shared/transport/attempt.ts',
    find: 'this.#settle(this.needsFresh ? exchange : { ...exchange, unsent: true })',
    replace: 'this.#settle(exchange)',
    tests: ['functions/_shared/transport/unsent.test.ts'],
    why: 'A message that cannot have been sent waits ten minutes.',
  },
  {
    file: 'functions/_shared/senders/whatsapp/response.ts',
    find: `  if (unsent !== true || !isUnknown) return failed(errorClass, message)
`,
    replace: `  if (!isUnknown) return failed(errorClass, message)
`,
    tests: ['functions/_shared/senders/whatsapp/response.test.ts'],
    why: 'A message that may have been sent is sent again after a minute.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `v.dead and x.refused and (f.rule).of_recipient as let_go`,
    replace: `false as let_go`,
    tests: ['sql/messages/message/refused_for_good.test.sql'],
    why: 'Somebody is called because a recipient is not on WhatsApp.',
  },
  {
    file: 'sql/messages/record/judge.sql',
    find: `    when p_status = 'CANCELLED' then 'CANCELLED'
`,
    replace: '',
    tests: ['sql/messages/judge/table.test.sql', 'sql/messages/message/edges.test.sql'],
    why: 'A message that a person cancelled becomes SENT.',
  },
  {
    file: 'sql/messages/record/judge.sql',
    find: `    when 'open' = any (p_outcomes) then 'SENDING'
`,
    replace: '',
    tests: ['sql/messages/judge/table.test.sql', 'sql/messages/judge/cases.test.sql'],
    why: 'A message fails while another attempt of it is being sent.',
  },
  {
    file: 'sql/messages/record/judge.sql',
    find: `when 'failed' = any (p_outcomes) or not p_has_retry then 'FAILED'`,
    replace: `when not p_has_retry then 'FAILED'`,
    tests: ['sql/messages/judge/table.test.sql', 'sql/messages/judge/orders.test.sql'],
    why: 'A message that WhatsApp reports as failed is sent again.',
  },
  {
    file: 'sql/messages/send/judge_messages.sql',
    find: `      where a.message_id = m.id offset 0`,
    replace: `      where a.message_id = m.id
        and a.attempt_no = (select pg_catalog.max(o.attempt_no) from outbox.message_attempt o
          where o.message_id = m.id) offset 0`,
    tests: ['sql/messages/judge/cases.test.sql', 'sql/messages/judge/orders.test.sql'],
    why: 'A message stays SENT for ever although its first attempt arrived.',
  },
  {
    file: 'sql/messages/send/judge_messages.sql',
    find: `x.discarded_at is null and v_row.status in ('SENT', 'DELIVERED');`,
    replace: 'false;',
    tests: ['sql/messages/judge/cases.test.sql', 'sql/messages/judge/orders.test.sql'],
    why: 'The dead letter of a message that arrived can be replayed: it is sent twice.',
  },
  {
    file: 'sql/messages/send/sent_message.sql',
    find: `    p_wamid := null;
`,
    replace: `    null;
`,
    tests: [
      'sql/messages/receive_callbacks/attempts.test.sql',
      'sql/messages/message/settled_while_leased.test.sql',
      'sql/messages/message/unknown_outcome.test.sql',
    ],
    why: 'An id that comes twice costs the results of a whole call.',
  },
  {
    file: 'sql/messages/record/message_status.sql',
    find: `('SENT', 'DELIVERED'), ('SENT', 'FAILED'),`,
    replace: `('SENT', 'DELIVERED'), ('SENT', 'FAILED'), ('DELIVERED', 'FAILED'),`,
    tests: ['sql/messages/message/moves.test.sql'],
    why: 'A message that arrived is told as failed.',
  },
  {
    file: 'sql/messages/record/message_status.sql',
    find:
      `  perform outbox.audit_message(p_message, 'FAILED', 'Message failed: ' || p_error, null, p_now);
`,
    replace: '',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'A failed message leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/record/message_status.sql',
    find: `  perform outbox.add_activity(p_message, 'MESSAGE_FAILED',
    pg_catalog.jsonb_build_object('errorCode', p_code, 'error', p_error), p_now);
`,
    replace: '',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: `A failed message leaves no line in the dossier's timeline.`,
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `if v_message.status <> 'QUEUED' then`,
    replace: `if v_message.status not in ('QUEUED', 'SENDING') then`,
    tests: ['sql/messages/message/cancel_and_replay.test.sql'],
    why: 'A message is cancelled while it is being sent.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `if v_message.status <> 'FAILED' or v_message.erased_at is not null then`,
    replace: `if v_message.status <> 'FAILED' then`,
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'An erased message is sent again, to nobody.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `  v_message.attempt_count := 0;
`,
    replace: '',
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'A message that is sent again has the count of its old attempts.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find:
      `  update outbox.dead_letter x set discarded_at = v_now, note = 'the message was sent again'
  where x.event_id = v_message.event_id and x.endpoint_id = v_message.channel_id
    and x.discarded_at is null;
`,
    replace: '',
    tests: ['sql/messages/message/edges.test.sql'],
    why: 'The dead letter of a message that was sent again can be replayed: it is sent twice.',
  },
  {
    file: 'sql/messages/message/message.sql',
    find: 'where m.id = outbox.parse_message_id(p_message_id) and m.org_id = p_org_id;',
    replace: 'where m.id = outbox.parse_message_id(p_message_id);',
    tests: [
      'sql/messages/message/key_queries.test.sql',
      'sql/messages/message/cancel_and_replay.test.sql',
      'e2e/api_isolation.test.ts',
    ],
    why: 'A message of another organisation is shown.',
  },
  {
    file: 'sql/messages/send/complete_message.sql',
    find: `  perform outbox.judge_messages(array[p_attempt.message_id], p_now);
  perform outbox.close_needless_retries(array[p_attempt.message_id], p_now);
`,
    replace: `  perform outbox.judge_messages(array[p_attempt.message_id], p_now);
`,
    tests: ['sql/messages/judge/cases.test.sql', 'sql/messages/judge/orders.test.sql'],
    why: 'A retry waits for a message that has arrived, and delays the next one.',
  },
  {
    file: 'sql/messages/record/channel_kind.sql',
    find: 'if v_function is not null then',
    replace: 'if false then',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'An invalid message of another channel is accepted, and fails when it is sent.',
  },
  {
    file: 'sql/messages/channel/find_channel.sql',
    find: 'where c.org_id = p_org_id and c.channel = p_channel',
    replace: 'where c.channel = p_channel',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A message is sent by the channel of another organisation.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'select k.has_window from outbox.channel_kind k',
    replace: 'select true from outbox.channel_kind k',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A message of another channel waits for a window that it does not have.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'select k.has_window from outbox.channel_kind k',
    replace: 'select false from outbox.channel_kind k',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'WhatsApp refuses messages outside of the window, each of which costs an attempt.',
  },
  {
    file: 'sql/messages/send/close_message.sql',
    find: 'delete from outbox.message_channel c where c.endpoint_id = p_endpoint_id;',
    replace: 'perform 1;',
    tests: ['modules/example_channel/delivery.test.ts#a deleted channel'],
    why: 'The rows of deleted channels stay.',
  },
  {
    file: 'sql/messages/send/report_status.sql',
    find: `when p_status = 'failed' and a.arrived_at is null then`,
    replace: `when p_status = 'failed' then`,
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A message that arrived has an error.',
  },
  {
    file: 'sql/messages/send/report_status.sql',
    find: 'where c.endpoint_id = p_channel_id;',
    replace: 'where c.endpoint_id is not null;',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A provider changes the messages of another one.',
  },
  {
    file: 'sql/messages/send/report_status.sql',
    find: 'where m.id = v_attempt.message_id for update;',
    replace: 'where m.id = v_attempt.message_id;',
    tests: ['concurrency/held_messages.test.ts#report_status() waits for a status'],
    why: 'Two reports at the same time count both, although one rules the other out.',
  },
  {
    file: 'sql/messages/send/report_status.sql',
    find: 'perform outbox.lock_gates(array[p_channel_id]);',
    replace: 'perform 1;',
    tests: ['concurrency/held_messages.test.ts#report_status() waits for the gate'],
    why: 'A report and a claim wait for each other.',
  },
  {
    file: 'sql/messages/send/report_status.sql',
    find: ' and m.channel_id = c.endpoint_id\n',
    replace: '\n',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A report to one channel changes the messages of another one with the same account.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: " and e.kind = 'whatsapp'\n",
    replace: '\n',
    tests: ['sql/messages/channel_kind/other_kind.test.sql'],
    why: 'A code of another channel opts people out of WhatsApp.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: `  v_message.correlation_id := p_correlation_id;
`,
    replace: '',
    tests: ['sql/messages/correlation_id/cases.test.sql'],
    why: 'A message forgets the correlation id of its caller.',
  },
  {
    file: 'sql/messages/message/create_message.sql',
    find: 'p_lane_key, p_message.correlation_id, null,',
    replace: 'p_lane_key, null, null,',
    tests: ['sql/messages/correlation_id/cases.test.sql'],
    why: 'The events of a message, and its dead letters, are not found by its correlation id.',
  },
  {
    file: 'sql/messages/callback/callback_record.sql',
    find: '(select outbox.hash_key())), m.correlation_id,',
    replace: '(select outbox.hash_key())), null,',
    tests: ['sql/messages/correlation_id/cases.test.sql'],
    why: 'The event of a status is not found by the correlation id of its message.',
  },
  {
    file: 'sql/messages/record/audit.sql',
    find: 'p_details, p_actor, p_now, p_message.correlation_id);',
    replace: 'p_details, p_actor, p_now);',
    tests: ['sql/messages/audit/lines.test.sql'],
    why: 'The audit trail of a message is without its correlation id.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'p_actor, p_now, p_message.correlation_id);',
    replace: 'p_actor, p_now);',
    tests: ['sql/messages/correlation_id/cases.test.sql'],
    why: 'A refused message is not found by its correlation id.',
  },
  {
    file: 'sql/messages/record/activity.sql',
    find: 'when p_message.correlation_id is null then',
    replace: 'when true then',
    tests: ['sql/messages/audit/lines.test.sql'],
    why: 'The timeline is without the correlation id.',
  },
  {
    file: 'sql/messages/message/found_messages.sql',
    find: `where m.org_id = p_org_id and m.correlation_id >= p_correlation_id
      and m.correlation_id <= p_correlation_id and m.correlation_id is not null`,
    replace: 'where m.correlation_id = p_correlation_id',
    tests: ['sql/organisations/walk.test.sql'],
    why: 'A search shows the messages of all organisations.',
  },
  {
    file: 'sql/messages/message/held_templates.sql',
    find: 'where h.held limit 10000',
    replace: 'limit 10000',
    tests: ['sql/messages/held_templates/cases.test.sql'],
    why: 'The alert about a held template never ends.',
  },
  {
    file: 'sql/messages/message/held_templates.sql',
    find: 'c.app_id = h.app_id and ',
    replace: '',
    tests: ['sql/messages/held_templates/cases.test.sql'],
    why: 'An app reports a template of another app as held.',
  },
  {
    file: 'sql/messages/message/held_templates.sql',
    find: `
        and t.language = h.language`,
    replace: '',
    tests: ['sql/messages/held_templates/cases.test.sql'],
    why: 'A template is held in a language that nobody uses.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `  perform outbox.audit_message(v_message, 'CANCELLED',
    'Message cancelled' || coalesce(': ' || p_why, ''), p_actor, v_now);`,
    replace: '  null;',
    tests: ['sql/messages/audit/lines.test.sql'],
    why: 'A message that somebody cancelled leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/send/close_message.sql',
    find: `    perform outbox.audit_message(v_message, 'CANCELLED',
      'Message cancelled: ' || p_why, null, p_now);`,
    replace: '    null;',
    tests: ['sql/messages/audit/lines.test.sql'],
    why: 'A message whose delivery was cancelled leaves no line in the audit trail.',
  },
]
