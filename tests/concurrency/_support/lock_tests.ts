/** The test that fails without each lock of sql/: a file of tests/concurrency/, and words of the test's name. */
export const lockTests: Record<string, [file: string, words: string]> = {
  'foundation/counter.sql hold_counters: pg_try_advisory_xact_lock': [
    'counters.test.ts',
    'neither waits for a transaction that has changed the counters',
  ],
  'foundation/audit_limit.sql add_to_free_count: for no key update skip locked': [
    'audit_rows.test.ts',
    'a write takes the counter that is free, and adds none',
  ],
  'engine/run/dispatch.sql forget_batches: for update skip locked': [
    'repeat.test.ts',
    'dispatch() does not wait for the call before it',
  ],
  'foundation/setting_check.sql lock_settings: pg_advisory_xact_lock': [
    'settings.test.ts',
    "waits for another's change of a setting",
  ],
  'foundation/setting_check.sql setting_is_changed_by_one: lock_settings': [
    'settings.test.ts',
    "waits for another's change of a setting",
  ],
  'messages/record/message_status.sql save_message: for update': [
    'held_messages.test.ts',
    'save_message() waits for a change of the message',
  ],
  'messages/channel/app.sql put_whatsapp_app: for update': [
    'held_channels.test.ts',
    'put_whatsapp_app() waits for whoever holds the app',
  ],
  'messages/channel/app.sql forget_app_secrets: for update skip locked': [
    'held_channels.test.ts',
    'forget_app_secrets() passes over an app',
  ],
  'messages/channel/channel.sql lock_channel: lock_endpoint': [
    'deleted.test.ts',
    "outbox.update_channel('default', $1",
  ],
  'messages/channel/channel.sql set_default_channel: lock_channel': [
    'deleted.test.ts',
    "outbox.set_default_channel('default', $1)",
  ],
  'messages/channel/channel_token.sql set_channel_token: lock_channel': [
    'deleted.test.ts',
    "outbox.set_channel_token('default', $1",
  ],
  'endpoints/endpoint.sql lock_endpoint: for no key update': [
    'deleted.test.ts',
    'outbox.pause_endpoint($1)',
  ],
  'endpoints/subscription.sql add_subscriptions: lock_endpoint': [
    'deleted.test.ts',
    'outbox.subscribe($1',
  ],
  'time/partition_index.sql build_index: for no key update skip locked': [
    'partition_index.test.ts',
    'a second call builds nothing while the first one builds',
  ],
  'foundation/change_rows.sql change_apart: for update skip locked': [
    'held_cleanup.test.ts',
    'the cleanup deletes old keys beside one that another session holds',
  ],
  'brokers/recovered_letter.sql end_broker_claims: for no key update of x skip locked': [
    'held_gates.test.ts',
    'end_broker_claims() leaves a dead letter of a purged endpoint',
  ],
  'engine/route/ended.sql drop_ended_subscriptions: for update of o skip locked': [
    'subscriptions.test.ts',
    'drop_ended_subscriptions() waits for nobody who holds one that it',
  ],
  'engine/route/ended.sql drop_ended_subscriptions: for update skip locked': [
    'subscriptions.test.ts',
    'drop_ended_subscriptions() waits for nobody who holds one that it',
  ],
  'engine/route/refused_event.sql route_waiting: for update skip locked': [
    'subscriptions.test.ts',
    'route_waiting() waits for nobody who routes an event again',
  ],
  'engine/route/refused_delivery.sql create_refused: lock_gates': [
    'held_gates.test.ts',
    'refused to be made waits for the gate before it makes it',
  ],
  'engine/route/refused_delivery.sql create_waiting: try_lock_gates': [
    'held_gates.test.ts',
    'create_waiting() passes over a gate that another session holds, and takes it after that',
  ],
  'endpoints/endpoint_status.sql set_endpoint_status: lock_endpoint': [
    'deleted.test.ts',
    'outbox.disable_endpoint($1)',
  ],
  'endpoints/endpoint_status.sql disable_endpoints: for no key update skip locked': [
    'console.test.ts',
    'dispatch() that would disable an endpoint waits for no person who has changed it',
  ],
  'endpoints/secret_rotation.sql rotate_secret: lock_endpoint': [
    'deleted.test.ts',
    'outbox.rotate_secret($1)',
  ],
  'endpoints/secret_rotation.sql expire_secret: lock_endpoint': [
    'deleted.test.ts',
    'outbox.expire_secret((select s.id',
  ],
  'endpoints/secret_rotation.sql drop_expired_secrets: for update skip locked': [
    'secrets.test.ts',
    'drop_expired_secrets() waits for nobody who forgets the endpoint',
  ],
  'endpoints/headers.sql change_headers: lock_endpoint': [
    'deleted.test.ts',
    'outbox.set_headers($1',
  ],
  'endpoints/unreadable.sql hold_unreadable: for no key update skip locked': [
    'unreadable.test.ts',
    'an unreadable secret holds its endpoint even while its row is locked',
  ],
  'engine/queue/gate.sql turn_ring: for no key update skip locked': [
    'held_gates.test.ts',
    'turn_ring() leaves the ring to a call that is turning it',
  ],
  'engine/queue/gate.sql lock_gates: for no key update': [
    'held_gates.test.ts',
    'beside a claim of the same delivery waits for it',
  ],
  'engine/queue/gate.sql try_lock_gates: for no key update skip locked': [
    'held_gates.test.ts',
    'try_lock_gates() passes over a gate that another session holds',
  ],
  'engine/queue/gate.sql lock_free_gates: lock_gates': [
    'held_gates.test.ts',
    'lock_free_gates() leaves out a gate that another session holds, and takes all others',
  ],
  'engine/queue/gate.sql lock_free_gates: try_lock_gates': [
    'held_gates.test.ts',
    'lock_free_gates() leaves out a gate that another session holds, and takes all others',
  ],
  'engine/run/contract.sql refuse_contract: for update skip locked': [
    'held_gates.test.ts',
    'refuse_contract() of a run does not wait for another call of it',
  ],
  'engine/run/binding.sql add_name: for update skip locked': [
    'copies.test.ts',
    'one records it, and no worker waits',
  ],
  'engine/run/binding.sql check_binding: pg_try_advisory_xact_lock_shared': [
    'copies.test.ts',
    'decide_copy() waits for a call of a run',
  ],
  'engine/run/binding.sql bind: for update skip locked': [
    'copies.test.ts',
    'of two runs that find a new database one records it',
  ],
  'engine/run/binding.sql follow_database: for update skip locked': [
    'copies.test.ts',
    'of two runs that find a new database one records it',
  ],
  'engine/run/binding.sql refuse_project: for update skip locked': [
    'copies.test.ts',
    'refuse_project() of a run does not wait for another call of it',
  ],
  'operations/decide_copy.sql decide_copy: pg_advisory_xact_lock': [
    'copies.test.ts',
    'decide_copy() waits for a call of a run',
  ],
  'operations/cancel_pending.sql cancel_pending: pg_advisory_xact_lock': [
    'copies.test.ts',
    'cancel_pending() waits for a tick that works on replay jobs',
  ],
  'operations/cancel_pending.sql route_all: lock_gates': [
    'copies.test.ts',
    'cancel_pending() waits for a gate that another session holds',
  ],
  'operations/cancel_pending.sql cancel_pending: lock_gates': [
    'copies.test.ts',
    'cancel_pending() waits for a gate that another session holds',
  ],
  'engine/run/run.sql touch_run: for update skip locked': [
    'held_gates.test.ts',
    'touch_run() of a second call of one run does not wait for the first',
  ],
  'brokers/broker.sql set_broker: lock_endpoint': ['deleted.test.ts', 'outbox.set_broker($1'],
  'brokers/slack.sql set_slack_url: lock_endpoint': ['deleted.test.ts', 'outbox.set_slack_url($1'],
  'messages/send/channel_failure.sql hold_channels: for no key update of e skip locked': [
    'held_channels.test.ts',
    'an answer that holds a channel waits for no person who has changed it',
  ],
  'messages/send/channel_failure.sql throttle_apps: try_lock_gates': [
    'held_channels.test.ts',
    'an answer that slows down an app waits for no gate of its other numbers',
  ],
  'messages/send/close_message.sql close_message: for update': [
    'held_messages.test.ts',
    'close_message() waits for a change of the message',
  ],
  'messages/send/complete_message.sql complete_message: for update of m': [
    'held_messages.test.ts',
    'the answer to a message waits for a status that says more',
  ],
  'messages/send/sent_message.sql mark_sent_late: lock_gates': [
    'held_messages.test.ts',
    'mark_sent_late() waits for the gate before it takes the message',
  ],
  'messages/send/sent_message.sql mark_sent_late: for update': [
    'held_messages.test.ts',
    'mark_sent_late() waits for a status of the same try',
  ],
  'messages/send/report_status.sql report_status: lock_gates': [
    'held_messages.test.ts',
    'report_status() waits for the gate before it takes the message',
  ],
  'messages/send/report_status.sql report_status: for update': [
    'held_messages.test.ts',
    'report_status() waits for a status of the same attempt',
  ],
  'messages/callback/callback_apply.sql save_display_numbers: for no key update skip locked': [
    'held_channels.test.ts',
    'save_display_numbers() waits for nobody who has changed a channel',
  ],
  'messages/callback/callback_apply.sql apply_callbacks: for update skip locked': [
    'held_channels.test.ts',
    'apply_callbacks() leaves updates alone that another sweep is applying',
  ],
  'messages/callback/callback_apply.sql take_waiting_updates: for update skip locked': [
    'held_channels.test.ts',
    'an answer waits for no sweep that holds what was said of its message',
  ],
  'messages/callback/callback_failure.sql hold_after_failures: for no key update of e skip locked':
    [
      'held_channels.test.ts',
      'a status that holds a channel waits for no person who has changed it',
    ],
  'messages/callback/callback_failure.sql throttle_after_failures: try_lock_gates': [
    'held_channels.test.ts',
    'a status that slows down a number waits for no run that holds its gate',
  ],
  'messages/callback/callback_status.sql apply_statuses: lock_gates': [
    'held_messages.test.ts',
    'a status of a message that waits for its retry waits for the gate',
  ],
  'messages/callback/callback_status.sql apply_statuses: for no key update': [
    'held_messages.test.ts',
    'a status waits for another of the same try',
  ],
  'messages/person/join_people.sql join_people: lock_links': [
    'people.test.ts',
    'when two sessions join them in opposite orders',
  ],
  'messages/send/complete_message.sql complete_messages: lock_links': [
    'people.test.ts',
    'dispatch() locks the people of all results before it changes one',
  ],
  'messages/person/join_people.sql lock_links: lock_people': [
    'people.test.ts',
    'when two sessions join them in opposite orders',
  ],
  'messages/person/join_people.sql lock_people: for update': [
    'people.test.ts',
    'when two sessions join them in opposite orders',
  ],
  'messages/person/erase_people.sql erase_people: for update skip locked': [
    'people.test.ts',
    'erase_people() passes over a person',
  ],
  'messages/person/erase_people.sql erase_people: for update skip locked (2)': [
    'people.test.ts',
    'erase_people() passes over a person',
  ],
  'operations/manual.sql cancel_delivery: lock_open_delivery': [
    'held_gates.test.ts',
    'beside a late result of the same delivery waits for it',
  ],
  'operations/manual.sql cancel_delivery: lock_open_delivery (2)': [
    'held_gates.test.ts',
    'beside a claim of the same delivery waits for it',
  ],
  'operations/manual.sql lock_open_delivery: lock_gates': [
    'held_gates.test.ts',
    'beside a claim of the same delivery waits for it',
  ],
  'operations/manual.sql make_due: lock_open_delivery': [
    'held_gates.test.ts',
    'beside a claim of the same delivery waits for it',
  ],
  'operations/manual.sql resume_lane: lock_gates': [
    'held_gates.test.ts',
    'resume_lane() beside a result that halts the key waits for it',
  ],
  'messages/callback/callback_cleanup.sql forget_updates: for update skip locked': [
    'held_cleanup.test.ts',
    'forget_updates() passes over an update that another session holds',
  ],
  'messages/callback/callback_cleanup.sql forget_updates: for update skip locked (2)': [
    'held_cleanup.test.ts',
    'forget_updates() passes over what another session holds when it empties updates',
  ],
  'messages/callback/callback_cleanup.sql erase_inbound: for update skip locked': [
    'held_cleanup.test.ts',
    'erase_inbound() passes over',
  ],
  'messages/channel/hold_channel.sql hold_channel: for no key update nowait': [
    'held_channels.test.ts',
    'hold_channel() is refused at once while another session holds the endpoint',
  ],
  'messages/channel/hold_channel.sql lift_expired_holds: for no key update of e skip locked': [
    'held_channels.test.ts',
    'lift_expired_holds() passes over a channel that a person has changed',
  ],
  'messages/message/hold_template.sql hold_template: for update': [
    'held_channels.test.ts',
    'a callback that holds a template waits for whoever holds its row',
  ],
  'engine/route/router.sql lock_router: for no key update skip locked': [
    'held_gates.test.ts',
    'lock_router() gives routing to one session alone',
  ],
  'engine/route/read_unrouted.sql read_unrouted: lock_router': [
    'held_gates.test.ts',
    'read_unrouted() leaves a batch to the session that is routing it',
  ],
  'engine/route/routing_timeout.sql shrink_routing: lock_router': [
    'held_gates.test.ts',
    'and the failed step of another counts once it is free',
  ],
  'engine/claim/due_suspect.sql due_suspect: for no key update of r skip locked': [
    'held_gates.test.ts',
    'due_gates() goes on beside a session that tries a refused endpoint alone',
  ],
  'engine/claim/due_suspect.sql due_suspect: for no key update skip locked': [
    'held_gates.test.ts',
    'due_gates() passes over the gate of a refused endpoint that another session holds',
  ],
  'engine/claim/due_gates.sql due_gates: for no key update skip locked': [
    'held_gates.test.ts',
    'due_gates() passes over a gate that another session holds',
  ],
  'engine/claim/take_others.sql take_others: for no key update of g skip locked': [
    'beside.test.ts',
    'a claim is full beside others that have locked the first gates',
  ],
  'engine/claim/isolated.sql due_isolated_gate: for no key update of g skip locked': [
    'held_gates.test.ts',
    'due_isolated_gate() passes over a gate that another session holds',
  ],
  'messages/send/message_claim.sql start_attempts: for update': [
    'held_messages.test.ts',
    'a claim waits for a change of the message',
  ],
  'engine/claim/batch.sql hand_out: lock_gates': [
    'held_repeat.test.ts',
    'a repeated call that must give back waits for the gate',
  ],
  'engine/run/dispatch.sql dispatch: lock_gates': [
    'held_gates.test.ts',
    'dispatch() that waits for the gate of a result has not changed its delivery yet',
  ],
  'engine/run/dispatch.sql record_refused: lock_gates': [
    'held_gates.test.ts',
    'record_refused() that waits for the gate of a result has not changed its delivery yet',
  ],
  'engine/claim/waiting_kind.sql park_unsent: try_lock_gates': [
    'held_gates.test.ts',
    'park_unsent() passes over a gate that another session holds, and parks it after that',
  ],
  'time/tick.sql wake_refused: try_lock_gates': [
    'held_gates.test.ts',
    'wake_refused() passes over a gate that another session holds',
  ],
  'time/tick.sql wake_changed: for update of g skip locked': [
    'waits_of_skip_locked.test.ts',
    '() passes over a gate whose key another session holds',
  ],
  'time/tick.sql wake_missed: for update skip locked': [
    'waits_of_skip_locked.test.ts',
    '() passes over a gate whose key another session holds',
  ],
  'operations/discard_dead_letter.sql discard_dead_letter: lock_gates': [
    'held_gates.test.ts',
    'discard_dead_letter() holds the gate',
  ],
  'brokers/recovered_letter.sql claim_broker_replay: lock_gates': [
    'held_gates.test.ts',
    'claim_broker_replay() holds the gate',
  ],
  'brokers/recovered_letter.sql record_broker_replay: lock_gates': [
    'held_gates.test.ts',
    'record_broker_replay() holds the gate',
  ],
  'brokers/recovered_letter.sql end_broker_claims: try_lock_gates': [
    'held_gates.test.ts',
    'end_broker_claims() passes over a gate',
  ],
  'operations/replay.sql reopen_delivery: for no key update': [
    'same_moment.test.ts',
    'replay() of a dead letter that cleanup() is removing finds nothing',
  ],
  'operations/replay.sql restart_open_checks: for update': [
    'partitions.test.ts',
    'a replay of several days starts their counts anew in the order in which they are dropped',
  ],
  'operations/replay.sql replay: lock_open_delivery': [
    'held_gates.test.ts',
    'beside a claim of the same delivery waits for it',
  ],
  'operations/replay.sql replay: lock_gates': [
    'held_gates.test.ts',
    'replay() beside a replay of the same dead letter waits for it',
  ],
  'operations/replay_job.sql work_replay_jobs: pg_try_advisory_xact_lock': [
    'same_moment.test.ts',
    'a step of replay jobs waits for no other step over the same letters',
  ],
  'operations/backfill_kept.sql lock_events: for key share': [
    'backfill.test.ts',
    'a backfill of an event that the sweep is deleting waits',
  ],
  'operations/backfill_kept.sql backfill_kept: lock_events': [
    'backfill.test.ts',
    'a backfill of an event that the sweep is deleting waits',
  ],
  'moves/move_part.sql check_move: for update': [
    'org_move_locks.test.ts',
    'settle_move() waits for another change of the move',
  ],
  'moves/move_part.sql hold_move: for update': [
    'org_move_locks.test.ts',
    'a step that waits for another run which takes the move is refused',
  ],
  'moves/spread_endpoint.sql hold_events: lock table unrouted': [
    'org_spread_locks.test.ts',
    'hold_events() waits for whoever publishes',
  ],
  'moves/spread_endpoint.sql lock_idle_endpoint: for no key update skip locked': [
    'org_spread_locks.test.ts',
    'send_endpoint() refuses an endpoint that somebody changes',
  ],
  'moves/spread_endpoint.sql lock_idle_endpoint: try_lock_gates': [
    'org_spread_locks.test.ts',
    'send_endpoint() holds the endpoint and its gate',
  ],
  'moves/spread_endpoint.sql check_leaves: lock_idle_endpoint': [
    'org_spread_locks.test.ts',
    'send_endpoint() refuses an endpoint that somebody changes',
  ],
  'moves/spread_endpoint.sql has_left: for no key update': [
    'org_spread_locks.test.ts',
    'has_left() waits for another run',
  ],
  'moves/spread_arrival.sql receive_endpoint: lock_idle_endpoint': [
    'org_spread_locks.test.ts',
    'receive_endpoint() refuses to replace an arrival',
  ],
  'moves/spread_arrival.sql lock_arrival: for no key update': [
    'org_spread_locks.test.ts',
    'open_endpoint() waits for a change of the endpoint',
  ],
  'moves/spread_arrival.sql open_endpoint: lock_arrival': [
    'org_spread_locks.test.ts',
    'open_endpoint() waits for a change of the endpoint',
  ],
  'moves/spread_arrival.sql drop_arrival: lock_arrival': [
    'org_spread_locks.test.ts',
    'drop_arrival() waits for another run',
  ],
  'moves/spread_arrival.sql drop_arrival: lock_gates': [
    'org_spread_locks.test.ts',
    'drop_arrival() waits for a run that routes to the endpoint',
  ],
  'moves/end_copies.sql add_late_events: lock_org_gates': [
    'org_move_locks.test.ts',
    'add_late_events()',
  ],
  'moves/moved_events.sql lock_org_gates: lock_gates': [
    'org_move_locks.test.ts',
    'open_target()',
  ],
  'moves/moved_events.sql write_moved_events: lock_org_gates': [
    'org_move_locks.test.ts',
    'write_move_page() of event',
  ],
  'moves/moved_rows.sql write_moved_lanes: lock_org_gates': [
    'org_move_locks.test.ts',
    'write_move_page() of lane',
  ],
  'moves/moved_rows.sql write_moved_letters: lock_org_gates': [
    'org_move_locks.test.ts',
    'write_move_page() of dead_letter',
  ],
  'moves/begin_move.sql pause_for_move: for no key update': [
    'org_move_locks.test.ts',
    'begin_leaving() waits for a resume of an endpoint, and pauses it',
  ],
  'moves/settle_move.sql end_lost_leases: lock_org_gates': [
    'org_move_locks.test.ts',
    'settle_move()',
  ],
  'moves/end_move.sql open_target: lock_org_gates': [
    'org_move_locks.test.ts',
    'open_target()',
  ],
  'moves/end_copies.sql end_moved_events: lock_org_gates': [
    'org_move_locks.test.ts',
    'end_moved_events()',
  ],
  'moves/undo_move.sql undo_receiving: lock_org_gates': [
    'org_move_locks.test.ts',
    'undo_receiving() waits for the gates before it removes a delivery',
  ],
  'moves/undo_move.sql undo_leaving: lock_org_gates': [
    'org_move_locks.test.ts',
    'undo_leaving()',
  ],
  'operations/delivered_mark.sql mark_next: lock_free_gates': [
    'held_gates.test.ts',
    'a job of mark_delivered() leaves a delivery to a claim that holds it',
  ],
  'operations/delivered_mark.sql work_delivered_marks: for update skip locked': [
    'held_gates.test.ts',
    'a job of mark_delivered() is not continued while another session continues it',
  ],
  'operations/backfill_turn.sql work_backfill: lock_free_gates': [
    'backfill.test.ts',
    'a step of backfills leaves a gate that another session holds',
  ],
  'operations/backfill_turn.sql next_backfill: for no key update skip locked': [
    'backfill.test.ts',
    'a step passes over a backfill that a person is changing',
  ],
  'operations/backfill_turn.sql work_backfills: pg_try_advisory_xact_lock': [
    'backfill.test.ts',
    'two steps of backfills at the same time are one',
  ],
  'watch/backfill_lock.sql lock_source: for share of n skip locked': [
    'backfill.test.ts',
    'stops before a row that is being changed',
  ],
  'watch/backfill_rows.sql backfill_rows: lock_source': [
    'backfill.test.ts',
    'stops before a row that is being changed',
  ],
  'watch/backfill_lock.sql wait_for_row: for share of n': [
    'backfill.test.ts',
    'a row that transactions lock one after the other',
  ],
  'operations/replay_job.sql work_replay_jobs: lock_free_gates': [
    'held_gates.test.ts',
    'a step of a replay job leaves a letter whose gate another session holds to it',
  ],
  'operations/purge.sql purge_endpoint: lock_deleted': [
    'held_cleanup.test.ts',
    'purge_deleted() passes over an endpoint whose',
  ],
  'operations/purge.sql rows_to_purge: for update skip locked': [
    'waits_of_skip_locked.test.ts',
    'purge_endpoint() looks for a delivery that is free',
  ],
  'operations/purge.sql rows_to_purge: for no key update of l skip locked': [
    'waits_of_skip_locked.test.ts',
    'purge_endpoint() passes over a locked',
  ],
  'operations/purge.sql lock_deleted: for no key update skip locked': [
    'held_cleanup.test.ts',
    'purge_deleted() passes over an endpoint whose',
  ],
  'operations/purge.sql lock_deleted: for no key update skip locked (2)': [
    'held_cleanup.test.ts',
    'purge_deleted() passes over an endpoint whose',
  ],
  'api/endpoint_change.sql lock_org_endpoint: for no key update': [
    'editors.test.ts',
    'at a version that another editor is changing waits for that',
  ],
  'api/endpoint_change.sql update_org_endpoint: lock_org_endpoint': [
    'editors.test.ts',
    'at a version that another editor is changing waits for that',
  ],
  'api/endpoint_status.sql delete_org_endpoint: lock_org_endpoint': [
    'editors.test.ts',
    'at a version that another editor is changing waits for that',
  ],
  'api/retry_config.sql set_retry_config: lock_org_endpoint': [
    'editors.test.ts',
    'at a version that another editor is changing waits for that',
  ],
  'messages/channel/channel_routes.sql update_channel: lock_channel': [
    'deleted.test.ts',
    "outbox.update_channel('default', $1",
  ],
  'messages/channel/channel_routes.sql resume_channel: lock_channel': [
    'deleted.test.ts',
    "outbox.resume_channel('default', $1)",
  ],
  'messages/message/erase_messages.sql erase_messages: for update skip locked': [
    'held_messages.test.ts',
    'erase_messages() passes over a message that another session holds',
  ],
  'messages/message/message_actions.sql lock_message: lock_gates': [
    'held_messages.test.ts',
    'cancel_message() waits for the gate before it takes the message',
  ],
  'messages/message/message_actions.sql lock_message: for update': [
    'held_messages.test.ts',
    'resend_message() beside the erasure of the message waits for it',
  ],
  'messages/message/message_actions.sql cancel_message: lock_message': [
    'held_messages.test.ts',
    'cancel_message() waits for the gate before it takes the message',
  ],
  'messages/message/message_actions.sql resend_message: lock_message': [
    'held_messages.test.ts',
    'resend_message() beside the erasure of the message waits for it',
  ],
  'time/partition.sql add_partition: lock table only %I': [
    'partitions.test.ts',
    'publish() of a row for DEFAULT, while its day is being made',
  ],
  'time/partition.sql add_partition: lock table %I': [
    'partitions.test.ts',
    'add_partition() of a later day waits for a row of that day in DEFAULT',
  ],
  'time/sweep_events.sql sweep_piece: for update skip locked': [
    'sweep.test.ts',
    'the sweep passes over an event that is being replayed',
  ],
  'operations/replay.sql reopen_delivery: for key share': [
    'sweep.test.ts',
    'a replay of an event that the sweep is deleting waits',
  ],
  'time/drop_partition.sql drop_partition: lock table only %I': [
    'partitions.test.ts',
    'drop_partitions() that waited for a publisher of that day leaves it',
  ],
  'time/expire.sql expire_deliveries: try_lock_gates': [
    'held_cleanup.test.ts',
    'expire_deliveries() passes over a gate that another session holds',
  ],
  'time/expire.sql expire_deliveries: for update skip locked': [
    'held_cleanup.test.ts',
    'expire_deliveries() passes over a locked delivery',
  ],
  'time/cleanup.sql forget_default_rows: for update skip locked': [
    'sweep.test.ts',
    'cleanup() passes over an event of DEFAULT that is being replayed',
  ],
  'time/cleanup.sql forget_lanes: for no key update skip locked': [
    'held_cleanup.test.ts',
    'cleanup() leaves the empty lane of a key alone',
  ],
  'time/cleanup.sql forget_dead_letters: for update skip locked': [
    'same_moment.test.ts',
    'cleanup() leaves a dead letter alone that is being replayed',
  ],
}
