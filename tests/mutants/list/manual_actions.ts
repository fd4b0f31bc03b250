import type { Mutant } from '../mutant.ts'

export const manualActions: readonly Mutant[] = [
  {
    file: 'sql/operations/manual.sql',
    find: 'elsif v_delivery.leased_until > outbox.clock() then',
    replace: 'elsif false then',
    tests: [
      'sql/operations/cancel_delivery/cases.test.sql',
      'sql/operations/schedule_retry/cases.test.sql',
    ],
    why: 'A person cancels what is just being sent.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `join outbox.endpoint e on e.id = d.endpoint_id and e.status <> 'deleted'`,
    replace: 'join outbox.endpoint e on e.id = d.endpoint_id',
    tests: ['sql/engine/states/transitions.test.sql', 'concurrency/deleted.test.ts'],
    why: 'What a deleted endpoint has left can be retried.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `p_delay > interval '7 days' then`,
    replace: `p_delay > interval '8 days' then`,
    tests: ['sql/operations/schedule_retry/cases.test.sql'],
    why: 'A delivery can be put off beyond what is kept.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `greatest(p_delay, interval '0')`,
    replace: 'p_delay',
    tests: ['sql/operations/schedule_retry/cases.test.sql'],
    why: 'A negative delay puts a delivery before its lane, where nobody looks.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `when l.halted or (l.ordered and l.leased > 0) then l.next_at
      when l.ordered then v_at`,
    replace: 'when l.ordered then v_at',
    tests: ['sql/engine/regressions/ordered_lane_in_flight_is_not_due.test.sql'],
    why: 'A retry of one delivery sets a key going that stopped behind a dead letter.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `      when l.ordered and v_was_first then least(l.not_before, v_retry_at)
`,
    replace: `      when l.ordered and v_was_first then l.not_before
`,
    tests: ['sql/operations/cancel_delivery/shown.test.sql'],
    why: 'Behind a cancelled delivery the next of its key waits for a retry that is not its own.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key) and l.halted
`,
    replace: `    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key)
`,
    tests: ['sql/operations/resume_lane/not_halted.test.sql'],
    why: 'resume_lane() of a key that is not halted says that it did something.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  update outbox.dead_letter x set attempt = p_delivery.attempt
  where x.event_id = p_delivery.event_id and x.endpoint_id = p_delivery.endpoint_id;
`,
    replace: '',
    tests: [
      'sql/operations/replay/dead_letter.test.sql',
      'sql/engine/regressions/replay_after_history_is_gone_goes_on_counting.test.sql',
      'sql/engine/states/final_rows.test.sql',
    ],
    why: 'A second replay uses the attempt numbers of the first one again.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  perform outbox.on_closed(p_delivery.event_id, p_outcome, p_why, p_now);
`,
    replace: '',
    tests: [
      'sql/messages/message/cancel_and_replay.test.sql',
      'sql/messages/message/lifecycle.test.sql',
    ],
    why: 'A message whose delivery was cancelled stays QUEUED for ever.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'due_at', v_at);`,
    replace: `  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'due_at', v_at);`,
    tests: ['sql/operations/resume_lane/not_halted.test.sql'],
    why: 'retry_now() waits for the next tick.',
  },
  {
    file: 'sql/operations/discard_dead_letter.sql',
    find: `if coalesce(pg_catalog.btrim(p_reason), '') = '' then`,
    replace: 'if p_reason is null then',
    tests: ['sql/operations/discard_dead_letter/cases.test.sql'],
    why: 'A dead letter is discarded without a reason.',
  },
  {
    file: 'sql/engine/result/dead_letters_cleared.sql',
    find: '      order by x.failed_at desc limit 1) is null\n',
    replace: '      and false limit 1) is null\n',
    tests: ['sql/engine/dead_letters_cleared/published.test.sql'],
    why: 'The alert of an endpoint ends while a dead letter waits.',
  },
  {
    file: 'sql/engine/result/dead_letters_cleared.sql',
    find:
      `    and (n.replayed_at is not null or n.discarded_at is not null) and n.org_id <> 'outhook';`,
    replace: `    and n.discarded_at is not null and n.org_id <> 'outhook';`,
    tests: ['sql/engine/dead_letters_cleared/published.test.sql'],
    why: 'The alert of dead letters stays after the last one was replayed.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: '      and (not l.ordered or l.not_before <= p_mark.until_at)\n',
    replace: '',
    tests: ['sql/operations/mark_delivered/cases.test.sql'],
    why: 'What waits for a later retry of its key is marked as delivered.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: 'greatest(outbox.uuid_v7_time(d.event_id), d.deliver_at, d.replayed_at)',
    replace: 'greatest(outbox.uuid_v7_time(d.event_id), d.replayed_at)',
    tests: ['sql/operations/mark_delivered/cases.test.sql'],
    why: 'An event for later is marked as delivered.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: 'v_org := coalesce(p_org_id, (outbox.check_endpoint(p_endpoint_id)).org_id);',
    replace: 'v_org := (outbox.check_endpoint(p_endpoint_id)).org_id;',
    tests: ['sql/operations/mark_delivered/cases.test.sql'],
    why: 'A job of one organisation names an endpoint of another.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: "(coalesce(d.leased_until, '-infinity') > p_now) = p_leased",
    replace: '(d.leased_until is not null) = p_leased',
    tests: ['sql/operations/mark_delivered/cases.test.sql'],
    why: 'What was in flight at the time of the backup is sent again.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: "p_delivery.attempt, 'released', null, null,",
    replace: "p_delivery.attempt, 'failed', null, 'lease_expired',",
    tests: ['sql/operations/mark_delivered/lanes.test.sql'],
    why: 'After a restore, what waits behind a lost head of an ordered key is sent again.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: 'if pg_catalog.cardinality(v_found) < p_most then',
    replace: 'if true then',
    tests: ['sql/operations/mark_delivered/lanes.test.sql'],
    why: 'Of each endpoint only the first 200 deliveries are marked.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: '  elsif v_mark.left_until is null then\n',
    replace: '  elsif true then\n',
    tests: ['sql/operations/mark_delivered/left_out.test.sql'],
    why: 'A job ends while a lease of before the backup is not over.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: 'greatest(outbox.uuid_v7_time(d.event_id), d.deliver_at, d.replayed_at)',
    replace: 'greatest(outbox.uuid_v7_time(d.event_id), d.deliver_at)',
    tests: ['sql/operations/mark_delivered/cases.test.sql'],
    why: 'What was replayed on purpose is marked as delivered again.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: '    join outbox.endpoint_kind k on k.kind = e.kind and k.managed_as is null\n    cross',
    replace: '    cross',
    tests: ['sql/operations/mark_delivered/channel.test.sql'],
    why: 'A message that was sent is shown as cancelled.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: '    perform outbox.stop_marked(p_mark);\n',
    replace: '',
    tests: ['sql/operations/mark_delivered/left_out.test.sql'],
    why: 'An event that waits after an error of routing is sent a second time.',
  },
]
