import type { Mutant } from '../mutant.ts'

/** Locks of manual actions, replays, backfills and marks. */
export const locksOfReplays: readonly Mutant[] = [
  {
    file: 'sql/operations/manual.sql',
    find:
      `  perform outbox.record_lost_lease(outbox.lock_open_delivery(p_event_id, p_endpoint_id), v_now);
  select * into v_delivery from outbox.delivery d`,
    replace: `  perform outbox.record_lost_lease((
    select d from outbox.delivery d
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id), v_now);
  select * into v_delivery from outbox.delivery d`,
    tests: ['concurrency/held_gates.test.ts#beside a claim of the same delivery waits for it'],
    why: 'A person delays a delivery that a run is just being handed.',
  },
  {
    file: 'sql/operations/manual.sql',
    find:
      `  perform outbox.record_lost_lease(outbox.lock_open_delivery(p_event_id, p_endpoint_id), v_now);
  perform outbox.close_delivery(`,
    replace: `  perform outbox.record_lost_lease((
    select d from outbox.delivery d
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id), v_now);
  perform outbox.close_delivery(`,
    tests: ['concurrency/held_gates.test.ts#cancel_delivery() beside a late result'],
    why: 'The lease of a delivery counts as lost while the run reports its result.',
  },
  {
    file: 'sql/operations/manual.sql',
    find:
      "  perform outbox.close_delivery(outbox.lock_open_delivery(p_event_id, p_endpoint_id), 'cancelled',",
    replace: `  perform outbox.close_delivery((
      select d from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id), 'cancelled',`,
    tests: [
      'sql/operations/cancel_delivery/lost_last_try.test.sql',
      'concurrency/held_gates.test.ts#cancel_delivery() beside a late result',
    ],
    why: 'A delivery is cancelled whose lost lease has just been its last attempt.',
  },
  {
    file: 'sql/operations/replay.sql',
    find: '    v_delivery := outbox.lock_open_delivery(p_event_id, p_endpoint_id);',
    replace: `    select * into v_delivery from outbox.delivery d
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;`,
    tests: ['concurrency/held_gates.test.ts#beside a claim of the same delivery waits for it'],
    why: 'A replay starts a delivery anew that a run is just sending.',
  },
  {
    file: 'sql/foundation/counter.sql',
    find: "  return pg_catalog.pg_try_advisory_xact_lock('outbox.counter'::regclass::oid::bigint);",
    replace: '  return true;',
    tests: [
      'concurrency/counters.test.ts#neither waits for a transaction that has changed the counters',
    ],
    why: 'Two ticks change the counters in different orders, and one of them is a deadlock.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find:
      "  if not pg_catalog.pg_try_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint) then",
    replace: '  if false then',
    tests: [
      'concurrency/same_moment.test.ts#a step of replay jobs waits for no other step over the same letters',
    ],
    why: 'Two ticks replay the same dead letters, and one waits for the other.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: `  perform outbox.lock_gates(array[p_endpoint_id]);
  update outbox.dead_letter x set`,
    replace: '  update outbox.dead_letter x set',
    tests: ['concurrency/held_gates.test.ts#record_broker_replay() holds the gate'],
    why:
      'The result of dlq:replay and a replay in the database lock one dead letter in two orders.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: "  v_locked := outbox.lock_free_gates(v_endpoints, '{}');",
    replace: '  v_locked := v_endpoints;',
    tests: ['concurrency/held_gates.test.ts#a job of mark_delivered() leaves'],
    why: 'A delivery is marked as delivered that a run is just being handed.',
  },
  {
    file: 'sql/operations/delivered_mark.sql',
    find: '  order by m.id limit 1 for update skip locked;',
    replace: '  order by m.id limit 1 for update;',
    tests: [
      'concurrency/held_gates.test.ts#a job of mark_delivered() is not continued while another session continues it',
    ],
    why: 'A tick waits for the one that continues a job of mark_delivered().',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find: 'where e.id = o.u for key share) e);',
    replace: 'where e.id = o.u) e);',
    tests: ['concurrency/backfill.test.ts#a backfill of an event that the sweep is deleting waits'],
    why: 'A backfill makes a delivery of an event that the sweep has deleted.',
  },
  {
    file: 'sql/operations/backfill_kept.sql',
    find:
      '  v_stored := outbox.lock_events(array(select p.event_id from pg_catalog.unnest(v_pairs) p));',
    replace: '  v_stored := array(select p.event_id from pg_catalog.unnest(v_pairs) p);',
    tests: ['concurrency/backfill.test.ts#a backfill of an event that the sweep is deleting waits'],
    why: 'A backfill makes a delivery of an event that the sweep has deleted.',
  },
  {
    file: 'sql/operations/backfill_turn.sql',
    find: "    where j.id = v_id and j.status = 'running' for no key update skip locked;",
    replace: "    where j.id = v_id and j.status = 'running' for no key update;",
    tests: ['concurrency/backfill.test.ts#a step passes over a backfill that a person is changing'],
    why: 'A tick waits for a person who changes a backfill.',
  },
  {
    file: 'sql/operations/backfill_turn.sql',
    find:
      "  if not pg_catalog.pg_try_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint) then",
    replace: '  if false then',
    tests: ['concurrency/backfill.test.ts#two steps of backfills at the same time are one'],
    why: 'Two ticks do steps of backfills at the same time, beside cancel_pending().',
  },
  {
    file: 'sql/watch/backfill_lock.sql',
    find: "array[p_source.busy_key], ' for share of n');",
    replace: "array[p_source.busy_key], '');",
    tests: ['concurrency/backfill.test.ts#a row that transactions lock one after the other'],
    why: 'A backfill stops for ever before a row that many transactions change.',
  },
]
