/**
 * What publishing adds to the caller's transaction: 10,000 events in transactions of 100 rows, against the
 * same transactions without.
 *
 *   deno run -A tests/bench/publishing.ts [--small]
 */

import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { calls } from './questions/publish.ts'
import {
  measurePublishing,
  PER_TRANSACTION,
  type PublishCost,
  PUBLISHING_WAYS,
} from './run/publish_cost.ts'
import { typeOf } from './sides/_event.ts'

const AT_MOST_MS = 0.25

export const publishing: Measurement = {
  name: 'publishing',
  title: 'What publishing adds to a transaction',
  minutes: 1,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const [events, rounds] = size === 'full' ? [10_000, 5] : [500, 1]
  let cost: PublishCost | undefined
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    for (let n = 0; n < 10; n++) {
      await sql`select outbox.create_endpoint('https://example.com/hook', ${[typeOf(n)]})`
    }
    cost = await measurePublishing(sql, { call: calls.outhook ?? '', events, rounds })
    const [row] = await sql<{ published: number }[]>`
      select count(*)::int as published from outbox.unrouted`
    const wanted = PUBLISHING_WAYS * events * (rounds + 1)
    if (row?.published !== wanted) throw new Error(`${row?.published} of ${wanted} are there`)
  })
  if (cost === undefined) throw new Error('nothing was measured')
  say(
    `${cost.added.toFixed(3)} ms added for each event, ` +
      `${cost.addedInOne.toFixed(3)} within the row's statement`,
  )
  return {
    note:
      `${events} rows in transactions of ${PER_TRANSACTION}, each published by a statement after ` +
      'that which inserts it, or by the same one, fsync on; the median of ' +
      `${rounds} alternating rounds`,
    columns: [
      { key: 'added', label: 'ms added by a statement', digits: 3 },
      { key: 'addedInOne', label: "ms added to the row's", digits: 3 },
      { key: 'without', label: 'ms without', digits: 3 },
    ],
    rows: [{ series: 'outbox.publish()', values: { ...cost } }],
    targets: [{ what: 'added for each event', value: cost.added, unit: 'ms', atMost: AT_MOST_MS }],
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/publishing.ts', [publishing])
