import type { Mutant } from '../mutant.ts'

export const locks: readonly Mutant[] = [
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: '\n      for no key update of x skip locked',
    replace: '',
    tests: [
      'concurrency/held_gates.test.ts#end_broker_claims() leaves a dead letter of a purged endpoint',
    ],
    why: 'A dead letter of an endpoint that is gone is announced twice.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: '  v_endpoints := outbox.try_lock_gates(array(',
    replace: '  v_endpoints := (array(',
    tests: ['concurrency/held_gates.test.ts#end_broker_claims() passes over a gate'],
    why: 'A step of the tick opens a dead letter that another session is replaying.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: `  perform outbox.lock_gates(array[p_endpoint_id]);
  select x.* into v_letter from outbox.dead_letter x`,
    replace: '  select x.* into v_letter from outbox.dead_letter x',
    tests: ['concurrency/held_gates.test.ts#claim_broker_replay'],
    why: 'A claim of dlq:replay and a replay in the database lock one dead letter in two orders.',
  },
  {
    file: 'sql/messages/record/message_status.sql',
    find:
      '  select m.status into v_before from outbox.outbound_message m where m.id = p_message.id for update;',
    replace:
      '  select m.status into v_before from outbox.outbound_message m where m.id = p_message.id;',
    tests: ['concurrency/held_messages.test.ts#save_message() waits for a change of the message'],
    why:
      'save_message() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/channel/app.sql',
    find: '  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id for update;',
    replace: '  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id;',
    tests: ['concurrency/held_channels.test.ts#put_whatsapp_app() waits for whoever holds the app'],
    why:
      'put_whatsapp_app() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/channel/app.sql',
    find: '    for update skip locked',
    replace: '    for update',
    tests: ['concurrency/held_channels.test.ts#forget_app_secrets() passes over an app'],
    why:
      'forget_app_secrets() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/endpoints/endpoint.sql',
    find: '  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;',
    replace: '  perform from outbox.endpoint e where e.id = p_endpoint_id;',
    tests: ['concurrency/deleted.test.ts#outbox.pause_endpoint($1)'],
    why:
      'lock_endpoint() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: '    for no key update skip locked',
    replace: '    for no key update',
    tests: [
      'concurrency/console.test.ts#dispatch() that would disable an endpoint waits for no person who has changed it',
    ],
    why:
      'disable_endpoints() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: '      for update skip locked)',
    replace: '      for update)',
    tests: [
      'concurrency/secrets.test.ts#drop_expired_secrets() waits for nobody who forgets the endpoint',
    ],
    why:
      'drop_expired_secrets() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/engine/queue/gate.sql',
    find:
      '    select o.ctid from outbox.ring o order by o.from_at desc limit 1 for no key update skip locked);',
    replace:
      '    select o.ctid from outbox.ring o order by o.from_at desc limit 1 for no key update);',
    tests: [
      'concurrency/held_gates.test.ts#turn_ring() leaves the ring to a call that is turning it',
    ],
    why:
      'turn_ring() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/engine/queue/gate.sql',
    find: `    select from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
    for no key update`,
    replace: `    select from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
`,
    tests: ['concurrency/held_gates.test.ts#beside a claim of the same delivery waits for it'],
    why:
      'lock_gates() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/engine/queue/gate.sql',
    find: '      for no key update skip locked',
    replace: '      for no key update',
    tests: [
      'concurrency/held_gates.test.ts#try_lock_gates() passes over a gate that another session holds',
    ],
    why:
      'try_lock_gates() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find:
      '    where r.id = (select l.id from outbox.run l where l.id = p_run for update skip locked);',
    replace: '    where r.id = (select l.id from outbox.run l where l.id = p_run for update);',
    tests: [
      'concurrency/held_gates.test.ts#touch_run() of a second call of one run does not wait for the first',
    ],
    why:
      'touch_run() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/send/channel_failure.sql',
    find: '    for no key update of e skip locked',
    replace: '    for no key update of e',
    tests: [
      'concurrency/held_channels.test.ts#an answer that holds a channel waits for no person who has changed it',
    ],
    why:
      'hold_channels() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/send/close_message.sql',
    find: `  where m.event_id = p_event_id and m.status = 'QUEUED' for update;`,
    replace: `  where m.event_id = p_event_id and m.status = 'QUEUED';`,
    tests: ['concurrency/held_messages.test.ts#close_message() waits for a change of the message'],
    why:
      'close_message() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/send/complete_message.sql',
    find: '  where a.event_id = p_result.event and a.claim = p_result.attempt for update of m;',
    replace: '  where a.event_id = p_result.event and a.claim = p_result.attempt;',
    tests: [
      'concurrency/held_messages.test.ts#the answer to a message waits for a status that says more',
    ],
    why:
      'complete_message() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/send/sent_message.sql',
    find: '  perform outbox.lock_gates(array[v_message.channel_id]);',
    replace: '  null;',
    tests: [
      'concurrency/held_messages.test.ts#mark_sent_late() waits for the gate before it takes the message',
    ],
    why: 'mark_sent_late() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/messages/send/sent_message.sql',
    find: '  where m.id = v_message.id for update;',
    replace: '  where m.id = v_message.id;',
    tests: [
      'concurrency/held_messages.test.ts#mark_sent_late() waits for a status of the same try',
    ],
    why:
      'mark_sent_late() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: '    for no key update skip locked',
    replace: '    for no key update',
    tests: [
      'concurrency/held_channels.test.ts#save_display_numbers() waits for nobody who has changed a channel',
    ],
    why:
      'save_display_numbers() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: '    for update skip locked);',
    replace: '    for update);',
    tests: [
      'concurrency/held_channels.test.ts#apply_callbacks() leaves updates alone that another sweep is applying',
    ],
    why:
      'apply_callbacks() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_apply.sql',
    find: '      where w.id = m.id for update skip locked',
    replace: '      where w.id = m.id for update',
    tests: [
      'concurrency/held_channels.test.ts#an answer waits for no sweep that holds what was said of its message',
    ],
    why:
      'take_waiting_updates() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: '    for no key update of e skip locked',
    replace: '    for no key update of e',
    tests: [
      'concurrency/held_channels.test.ts#a status that holds a channel waits for no person who has changed it',
    ],
    why:
      'hold_after_failures() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_status.sql',
    find: '    perform outbox.lock_gates(v_gates);',
    replace: '    null;',
    tests: [
      'concurrency/held_messages.test.ts#a status of a message that waits for its retry waits for the gate',
    ],
    why: 'apply_statuses() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/messages/callback/callback_status.sql',
    find: '    select from outbox.outbound_message m where m.id = i for no key update',
    replace: '    select from outbox.outbound_message m where m.id = i',
    tests: ['concurrency/held_messages.test.ts#a status waits for another of the same try'],
    why:
      'apply_statuses() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '        perform from outbox.person p where p.id = v_id for update;',
    replace: '        perform from outbox.person p where p.id = v_id;',
    tests: ['concurrency/people.test.ts#when two sessions join them in opposite orders'],
    why: 'Two sessions join the same two people, and the second one fails.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- The deliveries of a deleted endpoint count as cancelled, although their rows still exist.`,
    replace: `  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  null;
  -- The deliveries of a deleted endpoint count as cancelled, although their rows still exist.`,
    tests: ['concurrency/held_gates.test.ts#beside a claim of the same delivery waits for it'],
    why: 'lock_open_delivery() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- After the lock, because the endpoint may have been deleted before.`,
    replace: `  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  null;
  -- After the lock, because the endpoint may have been deleted before.`,
    tests: [
      'concurrency/held_gates.test.ts#resume_lane() beside a result that halts the key waits for it',
    ],
    why: 'resume_lane() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/foundation/change_rows.sql',
    find: `t.ctid = any ($1) for update skip locked)'`,
    replace: `t.ctid = any ($1) for update)'`,
    tests: ['concurrency/held_cleanup.test.ts#the cleanup deletes old keys beside one'],
    why: 'A row that somebody holds ends the cleanup of its table.',
  },
  {
    file: 'sql/messages/callback/callback_cleanup.sql',
    find: `      where o.received_at < p_now - v_update_age
      order by o.received_at limit p_limit for update skip locked),`,
    replace: `      where o.received_at < p_now - v_update_age
      order by o.received_at limit p_limit for update),`,
    tests: [
      'concurrency/held_cleanup.test.ts#forget_updates() passes over an update that another session holds',
    ],
    why:
      'forget_updates() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_cleanup.sql',
    find: '        order by o.received_at limit p_limit for update skip locked),',
    replace: '        order by o.received_at limit p_limit for update),',
    tests: [
      'concurrency/held_cleanup.test.ts#forget_updates() passes over what another session holds when it empties updates',
    ],
    why:
      'forget_updates() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/callback/callback_cleanup.sql',
    find: `      where o.erased_at is null and o.received_at < v_before
      order by o.received_at limit p_limit for update skip locked),`,
    replace: `      where o.erased_at is null and o.received_at < v_before
      order by o.received_at limit p_limit for update),`,
    tests: ['concurrency/held_cleanup.test.ts#erase_inbound() passes over'],
    why:
      'erase_inbound() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/person/erase_people.sql',
    find: '      order by o.last_seen_at limit p_limit for update skip locked),',
    replace: '      order by o.last_seen_at limit p_limit for update),',
    tests: ['concurrency/people.test.ts#erase_people() passes over'],
    why:
      'erase_people() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find: '  for no key update nowait;',
    replace: '  for no key update;',
    tests: [
      'concurrency/held_channels.test.ts#hold_channel() is refused at once while another session holds the endpoint',
    ],
    why: 'hold_channel() waits for a person who has changed the row, and a callback with it.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find: '    for no key update of e skip locked',
    replace: '    for no key update of e',
    tests: [
      'concurrency/held_channels.test.ts#lift_expired_holds() passes over a channel that a person has changed',
    ],
    why:
      'lift_expired_holds() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/message/hold_template.sql',
    find: '    and h.language = v_language for update;',
    replace: '    and h.language = v_language;',
    tests: [
      'concurrency/held_channels.test.ts#a callback that holds a template waits for whoever holds its row',
    ],
    why:
      'hold_template() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/engine/route/router.sql',
    find: '  for no key update skip locked;',
    replace: '  for no key update;',
    tests: ['concurrency/held_gates.test.ts#lock_router() gives routing to one session alone'],
    why:
      'lock_router() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: '      for no key update skip locked',
    replace: '      for no key update',
    tests: [
      'concurrency/held_gates.test.ts#due_gates() passes over a gate that another session holds',
    ],
    why:
      'due_gates() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/engine/claim/take_others.sql',
    find: '    for no key update of g skip locked;',
    replace: '    for no key update of g;',
    tests: [
      'concurrency/beside.test.ts#a claim is full beside others that have locked the first gates',
    ],
    why: 'A claim waits for the gates that other claims have locked.',
  },
  {
    file: 'sql/engine/claim/take_others.sql',
    find: '      continue when v_of_org >= p_of_org;',
    replace: '',
    tests: [
      'concurrency/beside.test.ts#a claim beside others gives each organisation no more than its share',
    ],
    why: 'Beside other claims, an organisation with many endpoints takes the part of the others.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: '          from due d\n        ) d\n        where d.id not in',
    replace: '          from first d\n        ) d\n        where d.id not in',
    tests: [
      'concurrency/beside.test.ts#a claim is full beside another one that has all the gates that come first',
    ],
    why: 'Of many workers, only one gets deliveries if each endpoint has one.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find:
      `create function outbox.active_secrets(p_endpoint_ids uuid[], p_now timestamptz) returns jsonb
language plpgsql stable`,
    replace:
      `create function outbox.active_secrets(p_endpoint_ids uuid[], p_now timestamptz) returns jsonb
language plpgsql volatile`,
    tests: [
      'concurrency/secrets.test.ts#a claim beside rotate_secret() tells the run no old value',
    ],
    why: 'A run keeps secrets under the revision of an earlier or later moment.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find:
      '    select * into v_message from outbox.outbound_message m where m.id = v_row.id for update;',
    replace: '    select * into v_message from outbox.outbound_message m where m.id = v_row.id;',
    tests: ['concurrency/held_messages.test.ts#a claim waits for a change of the message'],
    why:
      'start_attempts() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: '    perform outbox.lock_gates(v_touched);',
    replace: '    null;',
    tests: [
      'concurrency/held_gates.test.ts#dispatch() that waits for the gate of a result has not changed its delivery yet',
    ],
    why: 'dispatch() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/time/tick.sql',
    find: '    for update of g skip locked',
    replace: '    for no key update of g skip locked',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_changed() passes'],
    why: 'The tick waits 20 ms for each of a thousand gates whose keys another session holds.',
  },
  {
    file: 'sql/time/tick.sql',
    find: '    for update skip locked',
    replace: '    for no key update skip locked',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_missed() passes'],
    why: 'The tick waits 20 ms for each of a thousand gates whose keys another session holds.',
  },
  {
    file: 'sql/time/expire.sql',
    find: '      for update skip locked\n',
    replace: '',
    tests: ['concurrency/held_cleanup.test.ts#expire_deliveries() passes over a locked'],
    why: 'A locked delivery delays the expiry of all others.',
  },
  {
    file: 'sql/time/expire.sql',
    find: "set lock_timeout = '100ms'\n",
    replace: '',
    tests: ['concurrency/held_cleanup.test.ts#expire_deliveries() leaves out'],
    why: 'A locked dead letter stops the tick for as long as it is locked.',
  },
  {
    file: 'sql/time/expire.sql',
    find: 'v_waits = v_most_waits or ',
    replace: '',
    tests: ['concurrency/held_cleanup.test.ts#expire_deliveries() ends after'],
    why: 'Up to 200 gates stay locked while the tick waits for 200 dead letters.',
  },
  {
    file: 'sql/time/tick.sql',
    find: '    for update of g skip locked',
    replace: '    for update of g',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_changed() passes'],
    why: 'Beside a gate that another session holds, wake_changed() wakes no other one.',
  },
  {
    file: 'sql/time/tick.sql',
    find: '    for update skip locked',
    replace: '    for update',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_missed() passes'],
    why: 'Beside a gate that another session holds, wake_missed() wakes no other one.',
  },
  {
    file: 'sql/operations/discard_dead_letter.sql',
    find: '  perform outbox.lock_gates(array[p_endpoint_id]);',
    replace: '  null;',
    tests: ['concurrency/held_gates.test.ts#discard_dead_letter() holds the gate'],
    why: 'discard_dead_letter() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: '  for no key update;',
    replace: ' ;',
    tests: [
      'concurrency/same_moment.test.ts#replay() of a dead letter that cleanup() is removing finds nothing',
    ],
    why:
      'reopen_delivery() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: '    for update',
    replace: '',
    tests: [
      'concurrency/partitions.test.ts#a replay of several days starts their counts anew in the order in which they are dropped',
    ],
    why:
      'restart_open_checks() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: '  perform outbox.lock_gates(array[p_endpoint_id]);',
    replace: '  null;',
    tests: [
      'concurrency/held_gates.test.ts#replay() beside a replay of the same dead letter waits for it',
    ],
    why: 'replay() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: `  v_locked := outbox.lock_free_gates(
    array(
      select distinct s.endpoint_id from pg_catalog.unnest(v_steps) s
      where s.event_id is not null),
    array(
      select s.endpoint_id from pg_catalog.unnest(v_steps) s
      join outbox.replay_job j on j.id = s.job_id and j.waits_for is not null
      where s.event_id is not null));`,
    replace: `  v_locked := array(
    select distinct s.endpoint_id from pg_catalog.unnest(v_steps) s where s.event_id is not null);`,
    tests: ['concurrency/held_gates.test.ts#a step of a replay job leaves'],
    why: 'work_replay_jobs() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: 'v_gate_id bigint := outbox.lock_deleted(p_endpoint_id);',
    replace:
      'v_gate_id bigint := (select g.id from outbox.gate g where g.endpoint_id = p_endpoint_id);',
    tests: ['concurrency/held_cleanup.test.ts#purge_deleted() passes over an endpoint whose'],
    why: 'The deliveries of an endpoint are cancelled beside a run that holds its gate.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: `  where e.id = p_endpoint_id and e.status = 'deleted'
  for no key update skip locked;`,
    replace: `  where e.id = p_endpoint_id and e.status = 'deleted';`,
    tests: ['concurrency/held_cleanup.test.ts#purge_deleted() passes over an endpoint whose'],
    why: 'The deliveries of an endpoint are cancelled while a person changes it.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: `  where g.endpoint_id = p_endpoint_id
  for no key update skip locked;`,
    replace: '  where g.endpoint_id = p_endpoint_id;',
    tests: ['concurrency/held_cleanup.test.ts#purge_deleted() passes over an endpoint whose'],
    why: 'The deliveries of an endpoint are cancelled beside a run that holds its gate.',
  },
  {
    file: 'sql/api/endpoint_change.sql',
    find: '  where e.id = p_endpoint_id and e.org_id = p_org_id for no key update;',
    replace: '  where e.id = p_endpoint_id and e.org_id = p_org_id;',
    tests: [
      'concurrency/editors.test.ts#at a version that another editor is changing waits for that',
    ],
    why:
      'lock_org_endpoint() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/messages/message/erase_messages.sql',
    find: '      for update skip locked),',
    replace: '      for update),',
    tests: [
      'concurrency/held_messages.test.ts#erase_messages() passes over a message that another session holds',
    ],
    why:
      'erase_messages() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: '  perform outbox.lock_gates(array[v_message.channel_id]);',
    replace: '  null;',
    tests: [
      'concurrency/held_messages.test.ts#cancel_message() waits for the gate before it takes the message',
    ],
    why: 'lock_message() changes what another session that holds the gate is changing.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find:
      '  select * into v_message from outbox.outbound_message m where m.id = v_message.id for update;',
    replace: '  select * into v_message from outbox.outbound_message m where m.id = v_message.id;',
    tests: [
      'concurrency/held_messages.test.ts#resend_message() beside the erasure of the message waits for it',
    ],
    why:
      'lock_message() goes on beside a session that holds the row, and one of the two changes is lost.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: 'where g.id = o.gate_id for no key update skip locked)',
    replace: 'where g.id = o.gate_id for no key update)',
    tests: [
      'concurrency/held_cleanup.test.ts#cleanup() leaves the empty lane of a key alone',
      'concurrency/held_cleanup.test.ts#cleanup() leaves the empty lane of a replay job alone',
    ],
    why:
      'cleanup() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: '        limit p_limit for update skip locked),',
    replace: '        limit p_limit),',
    tests: ['concurrency/sweep.test.ts#an event of DEFAULT that is being replayed'],
    why: 'The cleanup waits for a replay, and then deletes its event.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: `          where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
      limit p_limit for update skip locked),`,
    replace: `          where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
      limit p_limit for update),`,
    tests: [
      'concurrency/same_moment.test.ts#cleanup() leaves a dead letter alone that is being replayed',
    ],
    why:
      'cleanup() waits for whoever holds the row, a person at the console or a run, and others wait for it.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: '  for no key update skip locked;',
    replace: '  for no key update;',
    tests: [
      'concurrency/unreadable.test.ts#an unreadable secret holds its endpoint even while its row',
    ],
    why: 'A claim waits for a person who has changed an endpoint whose secret cannot be read.',
  },
  {
    file: 'sql/engine/run/contract.sql',
    find: 'where l.id = p_run and l.ended_at is null for update skip locked);',
    replace: 'where l.id = p_run and l.ended_at is null for update);',
    tests: [
      'concurrency/held_gates.test.ts#refuse_contract() of a run does not wait for another call',
    ],
    why: 'A refused call waits for another call of its run.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: 'v_endpoints := outbox.try_lock_gates(array(',
    replace: 'v_endpoints := (array(',
    tests: [
      'concurrency/held_gates.test.ts#create_waiting() passes over a gate that another session holds',
    ],
    why: 'create_waiting() waits for a gate that a run holds, and the tick with it.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: `  perform outbox.lock_gates(array[p_endpoint_id]);
  perform outbox.count_up('created'`,
    replace: `  perform outbox.count_up('created'`,
    tests: [
      'concurrency/held_gates.test.ts#refused to be made waits for the gate before it makes it',
    ],
    why: 'create_refused() changes the lanes of a gate beside a run that holds it.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find: '  perform outbox.lock_gates(p_claimed.endpoints);',
    replace: '',
    tests: ['concurrency/held_repeat.test.ts'],
    why: 'A repeated call that gives deliveries back changes them before it holds their gate.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: '    exception when lock_not_available then\n',
    replace: '    exception when no_data_found then\n',
    tests: ['concurrency/waits_of_skip_locked.test.ts#a claim that would have to wait for a gate'],
    why: 'A claim fails if Postgres waits for a gate in spite of SKIP LOCKED.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: "set lock_timeout = '20ms'\n",
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#due_gates(10, '],
    why: 'Two claims wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: "set lock_timeout = '20ms'\n",
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#due_isolated_gate() takes a gate'],
    why: 'Two claims wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/engine/queue/gate.sql',
    find: "set lock_timeout = '20ms'\n",
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#try_lock_gates() takes a gate'],
    why: 'The tick and a claim wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: 'exception when lock_not_available then\n',
    replace: 'exception when no_data_found then\n',
    tests: ['concurrency/waits_of_skip_locked.test.ts#a deleted endpoint is not purged'],
    why: 'A tick warns whenever Postgres waits for a gate in spite of SKIP LOCKED.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: "set lock_timeout = '500ms'\n",
    replace: '',
    tests: [
      'concurrency/waits_of_skip_locked.test.ts#purge_endpoint() waits',
      'concurrency/waits_of_skip_locked.test.ts#purge_deleted() waits',
    ],
    why: 'A locked row of one deleted endpoint stops the tick for as long as it is locked.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: "    perform pg_catalog.set_config('lock_timeout', '20ms', true);",
    replace: '    null;',
    tests: ['concurrency/waits_of_skip_locked.test.ts#purge_endpoint() waits'],
    why: 'One row for which a trigger waits stops the tick for 500 ms again and again.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: '  if pg_catalog.clock_timestamp() >= p_until then',
    replace: '  if false then',
    tests: ['concurrency/waits_of_skip_locked.test.ts#purge_endpoint() stops'],
    why: 'A row for which a trigger waits with each delivery holds up the tick for 40 s.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: '      for update skip locked\n',
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#purge_endpoint() looks'],
    why: 'Locked deliveries keep those behind them from being cancelled.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: '    limit p_limit for no key update of l skip locked);',
    replace: '    limit p_limit);',
    tests: ['concurrency/waits_of_skip_locked.test.ts#purge_endpoint() passes over a locked lane'],
    why: 'Purging an endpoint waits for whoever holds one of its lanes.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: "job_deadline(),\n    pg_catalog.clock_timestamp() + interval '2 s');",
    replace: "job_deadline(),\n    pg_catalog.clock_timestamp() + interval '1 h');",
    tests: ['concurrency/waits_of_skip_locked.test.ts#purge_deleted() begins'],
    why: 'Ten deleted endpoints with a locked row each hold up the tick for 5 s.',
  },
  {
    file: 'sql/time/cleanup.sql',
    find: "set lock_timeout = '500ms'\n",
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#clean() of lanes waits'],
    why:
      'The cleanup and a claim wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/time/tick.sql',
    find: "set lock_timeout = '20ms'\nas $$\ndeclare\n  v_gates bigint[];\n  v_next_at",
    replace: 'as $$\ndeclare\n  v_gates bigint[];\n  v_next_at',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_changed('],
    why: 'The tick and a claim wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/time/tick.sql',
    find: "set lock_timeout = '20ms'\nas $$\ndeclare\n  v_from",
    replace: 'as $$\ndeclare\n  v_from',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_missed('],
    why: 'The tick and a claim wait for each other until Postgres ends one of them after a second.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'exception when lock_not_available then\n  -- The gate',
    replace: 'exception when no_data_found then\n  -- The gate',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_changed('],
    why: 'A tick warns whenever Postgres waits for a gate in spite of SKIP LOCKED.',
  },
  {
    file: 'sql/time/tick.sql',
    find: 'exception when lock_not_available then\n  -- A later',
    replace: 'exception when no_data_found then\n  -- A later',
    tests: ['concurrency/waits_of_skip_locked.test.ts#wake_missed('],
    why: 'A tick warns whenever Postgres waits for a gate in spite of SKIP LOCKED.',
  },
]
