import type { Mutant } from '../mutant.ts'

/** Locks of the steps of a move. */
export const locksOfMoves: readonly Mutant[] = [
  {
    file: 'sql/moves/move_part.sql',
    find: `m.org_id = p_org_id for update;
  if not found`,
    replace: `m.org_id = p_org_id;
  if not found`,
    tests: [
      'concurrency/org_move_locks.test.ts#settle_move() waits for another change of the move',
    ],
    why: 'Two commands take a step of one move from the same status.',
  },
  {
    file: 'sql/moves/move_part.sql',
    find: `m.org_id = p_org_id for update;
  -- Without a move`,
    replace: `m.org_id = p_org_id;
  -- Without a move`,
    tests: [
      'concurrency/org_move_locks.test.ts#a step that waits for another run which takes the move is refused',
    ],
    why: 'A command that was overtaken writes a stale page into the target.',
  },
  {
    file: 'sql/moves/begin_move.sql',
    find: "e.status <> 'deleted' order by e.id for no key update;",
    replace: "e.status <> 'deleted' order by e.id;",
    tests: [
      'concurrency/org_move_locks.test.ts#begin_leaving() waits for a resume of an endpoint, and pauses it',
    ],
    why: 'An endpoint that is just being resumed delivers beside the target.',
  },
  {
    file: 'sql/moves/moved_events.sql',
    find: '  perform outbox.lock_gates(v_endpoints);',
    replace: '  null;',
    tests: ['concurrency/org_move_locks.test.ts#open_target() waits for a run'],
    why: 'Each step of a move changes lanes beside a run that changes them.',
  },
  {
    file: 'sql/moves/moved_events.sql',
    find: `  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_there`,
    replace: `  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');
  v_there`,
    tests: ['concurrency/org_move_locks.test.ts#write_move_page() of event waits'],
    why: 'A page of events changes lanes beside a job that changes them.',
  },
  {
    file: 'sql/moves/moved_rows.sql',
    find: '  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);',
    replace: `  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');`,
    tests: ['concurrency/org_move_locks.test.ts#write_move_page() of lane waits'],
    why: 'A page of lanes changes lanes beside a job that changes them.',
  },
  {
    file: 'sql/moves/moved_rows.sql',
    find: `  perform outbox.lock_org_gates(p_org_id);
  delete from outbox.dead_letter x`,
    replace: '  delete from outbox.dead_letter x',
    tests: ['concurrency/org_move_locks.test.ts#write_move_page() of dead_letter waits'],
    why: 'A page of dead letters and a job that locks a gate first wait for each other.',
  },
  {
    file: 'sql/moves/settle_move.sql',
    find: '  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);',
    replace: `  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');`,
    tests: ['concurrency/org_move_locks.test.ts#settle_move() waits for a run'],
    why: 'A lease counts as lost while its run reports the result.',
  },
  {
    file: 'sql/moves/end_move.sql',
    find: '  perform outbox.park(outbox.lock_org_gates(p_org_id), v_now);',
    replace:
      '  perform outbox.park(array(select e.id from outbox.endpoint e where e.org_id = p_org_id), v_now);',
    tests: ['concurrency/org_move_locks.test.ts#open_target() waits for a run'],
    why: 'The gates of a target that opens are parked beside a job that changes them.',
  },
  {
    file: 'sql/moves/end_copies.sql',
    find: `  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_items`,
    replace: `  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');
  v_items`,
    tests: ['concurrency/org_move_locks.test.ts#add_late_events() waits'],
    why: 'A late event changes a lane beside a run of the target.',
  },
  {
    file: 'sql/moves/end_copies.sql',
    find: `  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_gate`,
    replace: `  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');
  v_gate`,
    tests: ['concurrency/org_move_locks.test.ts#end_moved_events() waits'],
    why: 'The copies in the source end beside a job that changes their lanes.',
  },
  {
    file: 'sql/moves/undo_move.sql',
    find: `  perform outbox.lock_org_gates(p_org_id);
  v_events`,
    replace: '  v_events',
    tests: [
      'concurrency/org_move_locks.test.ts#undo_receiving() waits for the gates before it removes a delivery',
    ],
    why: 'An undo and a job that locks a gate first wait for each other.',
  },
  {
    file: 'sql/moves/undo_move.sql',
    find: '  perform outbox.park(outbox.lock_org_gates(p_org_id), v_now);',
    replace:
      '  perform outbox.park(array(select e.id from outbox.endpoint e where e.org_id = p_org_id), v_now);',
    tests: ['concurrency/org_move_locks.test.ts#undo_leaving() waits for a run'],
    why: 'The gates of a source that delivers again are parked beside a job that changes them.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: '  lock table outbox.unrouted in share mode;\n',
    replace: '',
    tests: ['concurrency/org_spread_locks.test.ts#hold_events() waits for whoever publishes'],
    why: 'An event that is taken while an endpoint moves is delivered twice, or not at all.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find:
      '  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update skip locked;',
    replace: '  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;',
    tests: [
      'concurrency/org_spread_locks.test.ts#send_endpoint() refuses an endpoint that somebody changes',
    ],
    why: 'Publishers wait for a person who changes an endpoint that moves.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: 'v_endpoint constant outbox.endpoint := outbox.lock_idle_endpoint(p_endpoint_id);',
    replace: 'v_endpoint constant outbox.endpoint := outbox.check_endpoint(p_endpoint_id);',
    tests: [
      'concurrency/org_spread_locks.test.ts#send_endpoint() refuses an endpoint that somebody changes',
    ],
    why: 'A change of an endpoint that moves is lost.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: 'pg_catalog.cardinality(outbox.try_lock_gates(array[p_endpoint_id])) = 0',
    replace: 'false',
    tests: [
      'concurrency/org_spread_locks.test.ts#send_endpoint() holds the endpoint and its gate',
    ],
    why: 'A replay that a person asks for while the endpoint moves is cancelled.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: `-- SKIP LOCKED may wait (see engine/queue/gate). The command tries again after 55P03.
set lock_timeout = '20ms'
`,
    replace: '',
    tests: ['concurrency/waits_of_skip_locked.test.ts#lock_idle_endpoint() waits for 20 ms'],
    why: 'Publishers wait as long as SKIP LOCKED does.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: 'outbox.arrives_from(outbox.lock_idle_endpoint(v_id))',
    replace: 'outbox.arrives_from(outbox.check_endpoint(v_id))',
    tests: ['concurrency/org_spread_locks.test.ts#receive_endpoint() refuses to replace'],
    why: 'Publishers in both databases wait for a run that routes to an endpoint that moves.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: '    perform outbox.lock_gates(array[p_endpoint_id]);\n',
    replace: '',
    tests: ['concurrency/org_spread_locks.test.ts#drop_arrival() waits for a run that routes'],
    why: 'A delivery that a run has just created is left without its endpoint, lane and gate.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: `for no key update;
  v_reason := (`,
    replace: `;
  v_reason := (`,
    tests: ['concurrency/org_spread_locks.test.ts#has_left() waits for another run'],
    why: 'An endpoint that another run is just moving is removed in both databases.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: `for no key update;
  select * into v_endpoint`,
    replace: `;
  select * into v_endpoint`,
    tests: [
      'concurrency/org_spread_locks.test.ts#open_endpoint() waits for a change of the endpoint',
    ],
    why: 'A run fails beside a person who has just deleted the endpoint.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: `if outbox.lock_arrival(p_endpoint_id, p_from) then
    -- With`,
    replace: `if true then
    -- With`,
    tests: [
      'concurrency/org_spread_locks.test.ts#open_endpoint() waits for a change of the endpoint',
    ],
    why: 'A run that was overtaken changes an endpoint that has arrived.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: `if outbox.lock_arrival(p_endpoint_id, p_from) then
    perform outbox.note_endpoint`,
    replace: `if true then
    perform outbox.note_endpoint`,
    tests: ['concurrency/org_spread_locks.test.ts#drop_arrival() waits for another run'],
    why: 'A run that was overtaken removes an endpoint that has arrived.',
  },
  {
    file: 'sql/moves/spread_endpoint.sql',
    find: `create function outbox.has_left(p_endpoint_id uuid, p_to text) returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '2s'
`,
    replace: `create function outbox.has_left(p_endpoint_id uuid, p_to text) returns boolean
language plpgsql
set search_path = ''
`,
    tests: ["concurrency/org_spread_locks.test.ts#has_left($1, 'eu-1') waits for 2 s"],
    why: 'A run waits for as long as a person keeps the endpoint locked in its source.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: `create function outbox.open_endpoint(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
set lock_timeout = '2s'
`,
    replace: `create function outbox.open_endpoint(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
`,
    tests: ["concurrency/org_spread_locks.test.ts#open_endpoint($1, 'eu-1') waits for 2 s"],
    why: 'A run waits for as long as a person keeps an endpoint locked that has moved.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: `create function outbox.drop_arrival(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
set lock_timeout = '2s'
`,
    replace: `create function outbox.drop_arrival(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
`,
    tests: ["concurrency/org_spread_locks.test.ts#drop_arrival($1, 'eu-1') waits for 2 s"],
    why: 'A run waits for as long as a person keeps an endpoint locked that has not moved.',
  },
]
