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
    find:
      'v_transactions := v_move.settled_at is null\n    or pg_catalog.pg_snapshot_xmin(v_seen) < v_move.settled_at;',
    replace: 'v_transactions := false;',
    tests: ['concurrency/org_move.test.ts#only when older transactions have ended'],
    why: 'What an open transaction has published is not compared.',
  },
  {
    file: 'sql/moves/end_move.sql',
    find: 'elsif v_totals is distinct from p_target then',
    replace: 'elsif false then',
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
]
