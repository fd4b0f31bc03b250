import type { Mutant } from '../mutant.ts'

export const orgMoves: readonly Mutant[] = [
  {
    file: 'sql/events/event_bytes.sql',
    find: "where b.org_id = o.org_id and b.spent_until <> s.until and b.spent_until < 'infinity';",
    replace: 'where b.org_id = o.org_id and b.spent_until <> s.until;',
    tests: ['sql/moves/publishing/refused.test.sql'],
    why:
      'Routing opens the publishing of an organisation that moves: its event stays in the source.',
  },
  {
    file: 'sql/moves/move_part.sql',
    find: 'order by r.key collate "C"), \'[]\')::text end)',
    replace: 'order by r.key collate "C"), \'[]\') end)',
    tests: ['concurrency/org_move.test.ts#are the same in the target'],
    why:
      'JavaScript rounds the hash of a key: its lane is not halted in the target, or never goes on.',
  },
  {
    file: 'sql/moves/moved_events.sql',
    find: 'tail_at = case when l.ordered then greatest(l.tail_at, a.last_at) else l.tail_at end,',
    replace: 'tail_at = l.tail_at,',
    tests: ['sql/moves/write_move_page/order.test.sql'],
    why: 'If the clock of the target is behind, a new event comes before those that have moved.',
  },
  {
    file: 'sql/moves/settle_move.sql',
    find: 'v_transactions := v_move.settled_at = v_id or pg_catalog.cardinality(v_pids) > 0',
    replace: 'v_transactions := v_move.settled_at = v_id',
    tests: ['concurrency/org_move_beside.test.ts#with an old snapshot and no id'],
    why: 'What a transaction with an old snapshot publishes is not compared.',
  },
  {
    file: 'sql/moves/settle_move.sql',
    find: 'v_id constant xid8 := pg_catalog.pg_current_xact_id();',
    replace: 'v_id constant xid8 := pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot());',
    tests: ['concurrency/org_move_beside.test.ts#whose transaction id is the newest one'],
    why: 'The newest transaction, which has published already, is not waited for.',
  },
  {
    file: 'sql/foundation/org_move.sql',
    find: "m.status in ('closed', 'moved', 'finished', 'receiving', 'undone');",
    replace: "m.status in ('moved', 'finished', 'receiving', 'undone');",
    tests: ['concurrency/org_move_beside.test.ts#nothing of an organisation is changed where'],
    why: 'A secret that is rotated after the last comparison is lost.',
  },
  {
    file: 'sql/moves/end_move.sql',
    find: `  -- What somebody has begun since the move has.
  perform outbox.check_blockers(p_org_id);`,
    replace: '  -- What somebody has begun since the move has.',
    tests: ['concurrency/org_move_beside.test.ts#a job that begins while it is copied'],
    why: 'A job that began while it was copied opens deliveries that are lost.',
  },
  {
    file: 'sql/moves/move_part.sql',
    find: '  if found and v_move.run_id is distinct from p_run then',
    replace: '  if false then',
    tests: ['concurrency/org_move_beside.test.ts#a second command takes the move over'],
    why: 'A command that was overtaken writes a stale page into the target.',
  },
  {
    file: 'sql/moves/end_copies.sql',
    find: 'and a.at >= p_move.started_at);',
    replace: 'and a.at is null) or exists (select from outbox.event v where v.id = p_event_id);',
    tests: ['concurrency/org_move_errors.test.ts#that the source creates after the switch'],
    why: 'A late delivery of an event that the target knows is ended in the source, and lost.',
  },
  {
    file: 'sql/moves/end_move.sql',
    find: 'if v_totals is distinct from p_target then',
    replace: 'if false then',
    tests: ['sql/moves/write_move_page/order.test.sql'],
    why: 'The source gives an organisation up whose copy is not complete.',
  },
  {
    file: 'sql/moves/end_move.sql',
    find: 'where s.org_id = p_org_id and s.created_at > v_now;',
    replace: 'where false;',
    tests: ['sql/moves/write_move_page/order.test.sql'],
    why: 'If the clock of the target is behind, its first events have no subscriber.',
  },
  {
    file: 'sql/moves/moved_endpoints.sql',
    find: 'update outbox.endpoint_secret s set id = v_secret.id, expires_at = v_secret.expires_at',
    replace: 'update outbox.endpoint_secret s set expires_at = v_secret.expires_at',
    tests: ['concurrency/org_move.test.ts#are the same in the target'],
    why: 'An open delivery names a secret that does not exist.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `          and e.org_id <> all (v_elsewhere)
`,
    replace: '',
    tests: ['sql/time/cleanup/moving.test.sql'],
    why: 'A delivery that expires while its organisation moves is announced by both projects.',
  },
  {
    file: 'package/command/spread_org/spread.ts',
    find:
      '      await compareTaken(input.org, { name: from, call: source }, { name: to, call: target })\n',
    replace: '',
    tests: ['concurrency/org_spread.test.ts#no endpoint moves while a database lacks an event'],
    why: 'An endpoint gets an event twice, or not at all, that one database takes later.',
  },
  {
    file: 'package/command/spread_org/spread.ts',
    find: "hasLeft ? 'open_endpoint' : 'drop_arrival'",
    replace: "'open_endpoint'",
    tests: ['concurrency/org_spread.test.ts#an endpoint that stays after all'],
    why: 'An endpoint that a killed run had copied is delivered to by both databases.',
  },
  {
    file: 'package/command/spread_org/spread.ts',
    find: "'OH002', ",
    replace: '',
    tests: ['concurrency/org_spread.test.ts#an endpoint that is deleted before it is sent'],
    why: 'An endpoint that is deleted meanwhile ends the run before the others have moved.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: '    perform outbox.refuse_arrival(v_before);\n',
    replace: '    null;\n',
    tests: ['sql/moves/spread_endpoint/steps.test.sql'],
    why: 'An endpoint that has not left its database is resumed in the other one, too.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: "  set created_at = least(s.created_at, outbox.clock() - interval '1 hour')\n",
    replace: '  set created_at = outbox.clock()\n',
    tests: ['concurrency/org_spread.test.ts#an event that was being taken when the endpoint moved'],
    why:
      'An event that waited for the move has its time before it, and is delivered by no database.',
  },
  {
    file: 'sql/moves/spread_arrival.sql',
    find: '    perform outbox.drop_moved_endpoint(v_id);\n',
    replace: '',
    tests: ['sql/moves/spread_endpoint/steps.test.sql'],
    why: 'What waited in the target since a killed run is delivered by both databases.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: '  elsif v_gate.depth > 0 then',
    replace: '  elsif false then',
    tests: ['sql/moves/spread_endpoint/steps.test.sql'],
    why: 'An endpoint moves with open deliveries, which are cancelled.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `  perform outbox.check_reason(p_reason);
  v_result := outbox.set_endpoint_status(p_endpoint_id, 'paused',`,
    replace: `  v_result := outbox.set_endpoint_status(p_endpoint_id, 'paused',`,
    tests: [
      'sql/endpoints/pause_endpoint/reason.test.sql',
      'sql/api/api_endpoints/reason.test.sql',
    ],
    why: 'A tenant makes its endpoint one that moves here, and the next run deletes it.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `  perform outbox.check_reason(p_reason);
  v_result := outbox.set_endpoint_status(p_endpoint_id, 'disabled',`,
    replace: `  v_result := outbox.set_endpoint_status(p_endpoint_id, 'disabled',`,
    tests: ['sql/endpoints/pause_endpoint/reason.test.sql'],
    why: 'An operator disables an endpoint with a text that Outhook reads.',
  },
  {
    file: 'sql/endpoints/arrival.sql',
    find: "    outbox.arrival_reason(''), 'the",
    replace: "    'the",
    tests: [
      'sql/endpoints/pause_endpoint/reason.test.sql',
      'sql/api/api_endpoints/reason.test.sql',
    ],
    why: 'A tenant forges an arrival.',
  },
  {
    file: 'sql/endpoints/arrival.sql',
    find: "'the organisation moves ', ",
    replace: '',
    tests: ['sql/endpoints/pause_endpoint/reason.test.sql'],
    why:
      'A pause of a tenant is taken for the one of a move, and this endpoint has no status in the target.',
  },
  {
    file: 'sql/endpoints/arrival.sql',
    find: "'unreadable: ', ",
    replace: '',
    tests: ['sql/endpoints/pause_endpoint/reason.test.sql'],
    why: 'A pause of a person ends when a secret is set.',
  },
  {
    file: 'sql/endpoints/arrival.sql',
    find: ", 'held:']",
    replace: ']',
    tests: ['sql/endpoints/pause_endpoint/reason.test.sql'],
    why: 'A pause of a person ends when Meta lifts a hold.',
  },
  {
    file: 'sql/moves/move_status.sql',
    find: 'where e.org_id = p_org_id and outbox.arrives_from(e) is not null',
    replace: 'where false',
    tests: ['sql/moves/spread_endpoint/arrival.test.sql'],
    why: 'An organisation moves with an endpoint that then waits for a database without it.',
  },
  {
    file: 'sql/moves/moved_endpoints.sql',
    find: '  if v_arriving is not null then',
    replace: '  if false then',
    tests: ['sql/moves/spread_endpoint/arrival.test.sql'],
    why: 'The target takes an endpoint over that nobody can resume.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: '  if exists (select from outbox.lane l where l.gate_id = v_gate.id and l.halted) then',
    replace:
      '  if v_gate.depth = 0 and exists (select from outbox.lane l where l.gate_id = v_gate.id and l.halted) then',
    tests: ['sql/moves/spread_endpoint/why.test.sql'],
    why: 'An operator waits for ever for the deliveries of a halted lane.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: "r.endpoint_id = p_endpoint.id and r.again_at = 'infinity')",
    replace: 'r.endpoint_id = p_endpoint.id and false)',
    tests: ['sql/moves/spread_endpoint/why.test.sql'],
    why: 'An operator waits for ever for deliveries that were set aside.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: "  if p_endpoint.status = 'disabled' then",
    replace: '  if false then',
    tests: ['sql/moves/spread_endpoint/why.test.sql'],
    why: 'An operator resumes an endpoint whose receiver is gone.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: '  elsif p_endpoint.status_reason = outbox.move_reason(v_move) then',
    replace: '  elsif false then',
    tests: ['sql/moves/spread_endpoint/why.test.sql'],
    why:
      'An operator is told to resume what the move of the organisation has paused, which is refused.',
  },
  {
    file: 'sql/moves/spread_status.sql',
    find: "  elsif pg_catalog.starts_with(p_endpoint.status_reason, 'unreadable: ') then",
    replace: '  elsif false then',
    tests: ['sql/moves/spread_endpoint/why.test.sql'],
    why: 'An operator resumes an endpoint that the next claim pauses again.',
  },
]
