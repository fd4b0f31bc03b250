/**
 * What open breakers cost the endpoints that are well: dispatch() without them, and beside 200 of them with
 * 50,000 deliveries behind each.
 *
 *   deno run -A tests/bench/breakers.ts [--small]
 */

import { columns, LIMIT, measureCalls, rowOf } from './engine/calls.ts'
import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'

/** As much as growth may cost. */
const AT_MOST = 1.5

export const breakers: Measurement = {
  name: 'breakers',
  title: 'dispatch() beside 200 open breakers with 50,000 deliveries behind each',
  minutes: 6,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const [open, each, calls] = size === 'full' ? [200, 50_000, 800] : [20, 1_000, 50]
  let finding: Finding | undefined
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    await sql`call bench.load(1000, 100, 0, false)`
    const without = await measureCalls(sql, calls)
    say(`without: p50 ${without.p50.toFixed(1)}, p95 ${without.p95.toFixed(1)} ms`)
    await sql`create temp table well as select endpoint_id from outbox.gate`
    await sql`call bench.load(${open}, ${each}, 0, false)`
    say(`${open * each} deliveries loaded`)
    const opened = await sql`
      update outbox.gate g set breaker = 'open', open_until = clock_timestamp() + interval '1 hour',
        next_at = clock_timestamp() + interval '1 hour'
      where not exists (select from well w where w.endpoint_id = g.endpoint_id)`
    if (opened.count !== open) throw new Error(`${opened.count} breakers are open, not ${open}`)
    const beside = await measureCalls(sql, calls)
    for (const { claimed } of [without, beside]) {
      if (claimed < 0.95 * LIMIT) throw new Error(`a call claimed ${claimed} of ${LIMIT}`)
    }
    finding = {
      note:
        `${calls} calls each for ${LIMIT} deliveries, 100,000 waiting for 1,000 endpoints that ` +
        'are well; the design has no figure for this, so the target is that of growth',
      columns,
      rows: [
        rowOf('no breaker is open', without, without),
        rowOf(`beside ${open} open ones, ${each} behind each`, beside, without),
      ],
      targets: [
        {
          what: `p95 beside ${open} open breakers, to that without`,
          ...{ value: beside.p95 / without.p95, unit: '×', atMost: AT_MOST },
        },
        {
          what: 'sequential scans in all of the calls',
          ...{ value: without.seq_scans + beside.seq_scans, unit: '', atMost: 0 },
        },
      ],
    }
  })
  if (finding === undefined) throw new Error('nothing was measured')
  return finding
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/breakers.ts', [breakers])
