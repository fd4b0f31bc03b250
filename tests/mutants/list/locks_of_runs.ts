import type { Mutant } from '../mutant.ts'

/** Locks of routing, claims, results and the tick. */
export const locksOfRuns: readonly Mutant[] = [
  {
    file: 'sql/engine/route/ended.sql',
    find: '    for update of o skip locked)',
    replace: '    for update of o)',
    tests: [
      'concurrency/subscriptions.test.ts#drop_ended_subscriptions() waits for nobody who holds one',
    ],
    why: 'The cleanup waits for whoever holds an ended subscription.',
  },
  {
    file: 'sql/engine/route/ended.sql',
    find: '      for update skip locked),',
    replace: '      for update),',
    tests: [
      'concurrency/subscriptions.test.ts#drop_ended_subscriptions() waits for nobody who holds one',
    ],
    why: 'The cleanup waits for whoever holds an ended subscription that nothing needs any more.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: '      for update skip locked))',
    replace: '      for update))',
    tests: [
      'concurrency/subscriptions.test.ts#route_waiting() waits for nobody who routes an event again',
    ],
    why: 'Routing waits for a person who routes an event again.',
  },
  {
    file: 'sql/engine/route/read_unrouted.sql',
    find: '  v_router := outbox.lock_router();',
    replace: '  v_router := outbox.current_router();',
    tests: [
      'concurrency/held_gates.test.ts#read_unrouted() leaves a batch to the session that is routing it',
    ],
    why: 'Two calls route the same events, and one of them waits and fails.',
  },
  {
    file: 'sql/engine/route/routing_timeout.sql',
    find: '  v_router := outbox.lock_router();',
    replace: '  v_router := outbox.current_router();',
    tests: ['concurrency/held_gates.test.ts#and the failed step of another counts once it is free'],
    why: 'A call whose routing timed out waits for the call that is routing now.',
  },
  {
    file: 'sql/engine/claim/due_suspect.sql',
    find: '  for no key update of r skip locked;',
    replace: '  for no key update of r;',
    tests: [
      'concurrency/held_gates.test.ts#due_gates() goes on beside a session that tries a refused endpoint alone',
    ],
    why: 'Each claim waits for the one that tries a refused endpoint alone.',
  },
  {
    file: 'sql/engine/claim/due_suspect.sql',
    find: '    for no key update skip locked;',
    replace: '    for no key update;',
    tests: [
      'concurrency/held_gates.test.ts#due_gates() passes over the gate of a refused endpoint that another session holds',
    ],
    why: 'A claim waits for whoever holds the gate of a refused endpoint.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: '    for no key update of g skip locked);',
    replace: '    for no key update of g);',
    tests: [
      'concurrency/held_gates.test.ts#due_isolated_gate() passes over a gate that another session holds',
    ],
    why: 'A claim waits for whoever holds the gate of an isolated endpoint.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `  perform outbox.lock_gates(array(
    select distinct r.endpoint from pg_catalog.unnest(v_results || v_reported.bad) r
    where r.endpoint is not null));`,
    replace: '  null;',
    tests: [
      'concurrency/held_gates.test.ts#record_refused() that waits for the gate of a result has not changed its delivery yet',
    ],
    why: 'The results of a refused run change deliveries that another session is changing.',
  },
  {
    file: 'sql/engine/claim/waiting_kind.sql',
    find: '  v_endpoints := outbox.try_lock_gates(array(',
    replace: '  v_endpoints := (array(',
    tests: [
      'concurrency/held_gates.test.ts#park_unsent() passes over a gate that another session holds, and parks it after that',
    ],
    why: 'A claim waits for the gate of an endpoint of a kind that nobody sends.',
  },
  {
    file: 'sql/time/tick.sql',
    find: '  v_endpoints := outbox.try_lock_gates(array(',
    replace: '  v_endpoints := (array(',
    tests: [
      'concurrency/held_gates.test.ts#wake_refused() passes over a gate that another session holds',
    ],
    why: 'The tick waits for whoever holds the gate of a refused endpoint.',
  },
]
