import type { Mutant } from '../mutant.ts'

export const callbacks: readonly Mutant[] = [
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: 'on conflict (app_id, key) do nothing',
    replace: 'on conflict (app_id, key) do update set received_at = excluded.received_at',
    tests: ['sql/messages/receive_callbacks/statuses.test.sql'],
    why: 'An update that WhatsApp repeats is applied twice.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `            when c.org_id <> p_org_id then 'org_mismatch'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/tenants.test.sql'],
    why: `X-Org-Id of a caller is not held against the number's organisation.`,
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `        when m.reason = 'org_mismatch'
        then pg_catalog.format('%s %s %s', m.reason, pg_catalog.md5(p_org_id), m.key)
        when m.reason is not null and m.reason <> 'not_used'
        then pg_catalog.format('%s %s', m.reason, m.key)
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/tenants.test.sql'],
    why: 'A status or STOP that came with a wrong X-Org-Id is lost for good.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find:
      `      when p_kind = 'template' and pg_catalog.bool_or(c.org_id <> p_org_id) then 'org_mismatch'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/tenants.test.sql'],
    why: `A callback for one organisation holds another organisation's template.`,
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `p_app_id and g.kind = 'status'`,
    replace: `p_app_id and false`,
    tests: ['sql/messages/receive_callbacks/deleted_channel.test.sql'],
    why: 'A message stays SENT for ever after its channel was deleted.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `            when c.waba_id <> g.waba_id then 'wrong_account'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/tenants.test.sql'],
    why: 'An update of another account moves a message.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: 'where o.phone_number_id = g.phone_number_id and o.app_id = p_app_id',
    replace: 'where o.phone_number_id = g.phone_number_id',
    tests: ['sql/messages/receive_callbacks/tenants.test.sql'],
    why: 'One app tells about the numbers of another.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: 'm.id = v_attempt.message_id and m.org_id = p_org_id)',
    replace: 'm.id = v_attempt.message_id)',
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: `A status moves a message of the number's previous organisation.`,
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `      and a.phone_number_id = p_phone_number_id;
`,
    replace: `      ;
`,
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'A status of one number names a message of another.',
  },
  {
    file: 'sql/messages/callback/callback_store.sql',
    find: `p_now - interval '60 days' and p_now + interval '1 day'`,
    replace: `p_now - interval '6000 days' and p_now + interval '100 days'`,
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'A status of next month is believed.',
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `        when r.wamid <> coalesce(r.known_wamid, r.first_wamid) then 'other_id'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/attempts.test.sql'],
    why: `A status under another id is taken for the attempt's.`,
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `when r.known_at is not null or r.nth > 1 then 'already'`,
    replace: `when r.known_at is not null then 'already'`,
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'The same status twice in one callback is told twice.',
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `        when r.rank = 4 and (r.has_arrived or (not r.has_failed and not r.fails_first))
          then 'after_delivered'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'A message that arrived is told as failed.',
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `        when m.status = 'CANCELLED' then 'message_cancelled'
`,
    replace: '',
    tests: [
      'sql/messages/receive_callbacks/attempts.test.sql',
      'sql/messages/receive_callbacks/statuses.test.sql',
      'sql/messages/message/cancel_and_replay.test.sql',
    ],
    why: 'A status of a cancelled message is told as one that counts.',
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `        when r.erased_at is not null then 'erased'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'A status of an erased message writes to it.',
  },
  {
    file: 'sql/messages/callback/callback_status_save.sql',
    find: '    delivered_at = least(a.delivered_at, f.delivered_at),',
    replace: '    delivered_at = coalesce(f.delivered_at, a.delivered_at),',
    tests: ['sql/messages/receive_callbacks/attempts.test.sql', 'concurrency/callbacks.test.ts'],
    why: `A message's times depend on the order of its updates.`,
  },
  {
    file: 'sql/messages/callback/callback_status_save.sql',
    find: `    next_retry_at = null,
    updated_at = p_now
  from (`,
    replace: `    updated_at = p_now
  from (`,
    tests: ['sql/messages/receive_callbacks/whose.test.sql'],
    why: 'An attempt that arrived shows a retry that will not come.',
  },
  {
    file: 'sql/messages/callback/callback_status.sql',
    find: `  perform outbox.close_needless_retries(array(
    select x.message_id from pg_catalog.unnest(v_moves) x where x.was in ('QUEUED', 'FAILED')),
    p_now);
`,
    replace: '',
    tests: [
      'sql/messages/receive_callbacks/attempts.test.sql',
      'sql/messages/message/unknown_outcome.test.sql',
    ],
    why: 'A message that arrived is sent again.',
  },
  {
    file: 'sql/messages/send/judge_messages.sql',
    find: `    where x.became = 'FAILED'
      or (`,
    replace: `    where (`,
    tests: [
      'sql/messages/receive_callbacks/statuses.test.sql',
      'sql/messages/message/timeline.test.sql',
    ],
    why: 'A failure is neither in the audit trail nor on the timeline.',
  },
  {
    file: 'sql/messages/callback/callback_record.sql',
    find: `  perform outbox.publish_statuses(p_changes);
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/statuses.test.sql'],
    why: 'The organisation is not told what became of its messages.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: `u.checks >= 8 and not v_is_temporary then 'skipped'`,
    replace: `u.checks >= 8 then 'skipped'`,
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'An update is given up because somebody held a lock.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: `p_sqlstate in ('55P03', '40P01', '57014')`,
    replace: `p_sqlstate in ('55P03', '40P01')`,
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'An update is given up because time ran out.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: `        when 0 then p_now + interval '5 s'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/sweep.test.sql'],
    why: 'A status that came before its answer waits for a minute.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: '    perform outbox.postpone_updates(p_ids, v_error, v_sqlstate, p_now);',
    replace: '    null;',
    tests: [
      'sql/messages/receive_callbacks/failures.test.sql',
      'sql/messages/receive_callbacks/sweep.test.sql',
    ],
    why: 'An update that cannot be applied is tried once a second for ever.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: `exception when query_canceled or assert_failure or others then
    v_sqlstate := sqlstate;`,
    replace: `exception when others then
    v_sqlstate := sqlstate;`,
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'A callback that takes too long is not stored, and WhatsApp sends it again and again.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: `o.at > coalesce(e.ramp_from, '-infinity')`,
    replace: 'true',
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'A failure from before the resume holds the channel again.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: `or (v_row.scope = 'account' and w.waba_id = v_row.waba_id)));`,
    replace: `or v_row.scope = 'account'));`,
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'A throttle of one account slows every number of the app.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: `and f.action = 'throttle' and c.at + f.min_delay_s * interval '1 s' > p_now`,
    replace: `and f.action = 'throttle'`,
    tests: [
      'sql/messages/receive_callbacks/failures.test.sql',
      'sql/messages/message/throttles.test.sql',
    ],
    why: 'A throttle that is over slows a number.',
    equivalent:
      'What is over lies in the past, and both a gate and a lane keep the later of two times: the condition only spares the look.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find: `  where excluded.decided_at > h.decided_at
    or (excluded.decided_at`,
    replace: '  where true or (excluded.decided_at',
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'An old update lifts a newer hold.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find:
      `elsif not p_held and v_endpoint.status = 'paused' and v_endpoint.status_reason like 'held:%'`,
    replace: `elsif not p_held and v_endpoint.status = 'paused'`,
    tests: [
      'sql/messages/receive_callbacks/notices.test.sql',
      'sql/messages/update_channel/changes.test.sql',
    ],
    why: 'An update of WhatsApp resumes a channel that a person has paused.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find: `    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'HELD',
      'held: ' || p_why, null, p_now);
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/held_and_slowed.test.sql'],
    why: 'A held channel leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find:
      `where m.type = 'unsupported' and excluded.type <> 'unsupported' and m.org_id = excluded.org_id`,
    replace: 'where m.org_id = excluded.org_id',
    tests: ['sql/messages/receive_callbacks/inbound.test.sql'],
    why: 'An inbound message that comes twice is published twice.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find: `order by r.org_id = '*', r.action = 'STOP' desc limit 1;`,
    replace: `order by r.org_id = '*' desc, r.action = 'STOP' desc limit 1;`,
    tests: ['sql/messages/receive_callbacks/wishes.test.sql'],
    why: `An organisation's own word does not stand above the general one.`,
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find:
      `order by pg_catalog.row_number() over (partition by o.org_id order by o.next_check_at, o.id),
      o.next_check_at`,
    replace: 'order by o.next_check_at',
    tests: ['sql/messages/receive_callbacks/turns.test.sql'],
    why: 'The waiting updates of one organisation come before those of all others.',
  },
]
