/**
 * How long dispatch() takes with ever more deliveries waiting, and beside backlogs of other shapes:
 *
 *   deno run -A tests/bench/dispatch.ts [--small]
 *
 * Tables are loaded in bulk; then each call claims 400 and reports the 400 before as delivered. As many
 * are put back as were delivered, outside of what is measured.
 */

import type { Sql } from 'postgres'
import { columns, LIMIT, measureCalls, type Measured, rowOf } from './engine/calls.ts'
import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { short } from './questions/growth.ts'

/** Some endpoints, each with so many deliveries in one lane, or in a lane for each of its keys. */
interface Load {
  endpoints: number
  each: number
  keys?: number
  secrets?: boolean
}

interface Scenario {
  name: string
  calls: number
  loads: Load[]
}

/** How much longer a call may take with the most waiting than with the fewest. */
const GROWTH = 1.5

export const dispatch: Measurement = {
  name: 'dispatch',
  title: 'dispatch() with ever more waiting, and beside backlogs of other shapes',
  minutes: 18,
  run,
}

function ofSizes(size: Size): Scenario[] {
  const sizes = size === 'full'
    ? [[1_000, 2_000], [100_000, 2_000], [1_000_000, 800], [5_000_000, 2_000]] as const
    : [[1_000, 50], [20_000, 50]] as const
  return sizes.map(([waiting, calls]) => ({
    name: `${short(waiting)} waiting, 1,000 gates`,
    calls,
    loads: [{ endpoints: 1_000, each: waiting / 1_000 }],
  }))
}

function ofOtherShapes(size: Size): Scenario[] {
  const [times, calls] = size === 'full' ? [10, 800] : [1, 50]
  const many = 10_000 * times
  return [
    {
      name: '100k waiting, 1,000 gates with a secret',
      calls,
      loads: [{ endpoints: 1_000, each: 100, secrets: true }],
    },
    {
      name: `100k waiting, ${short(1_000 * times)} gates`,
      calls,
      loads: [{ endpoints: 1_000 * times, each: 100 / times }],
    },
    {
      name: `${short(2 * many)} waiting, ${short(many)} keys of one gate`,
      calls,
      loads: [{ endpoints: 1, each: 2 * many, keys: many }],
    },
    {
      name: `${short(10 * many)} in one lane, 100k in 1,000 gates`,
      calls,
      loads: [{ endpoints: 1_000, each: 100 }, { endpoints: 1, each: 10 * many }],
    },
  ]
}

async function measure(sql: Sql, { name, loads, calls }: Scenario): Promise<Measured> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret, outbox.gate, outbox.lane,
      outbox.delivery, outbox.attempt, outbox.run, outbox.run_batch, bench.call`
  for (const { endpoints, each, keys = 0, secrets = false } of loads) {
    await sql`call bench.load(${endpoints}, ${each}, ${keys}, ${secrets})`
  }
  const measured = await measureCalls(sql, calls)
  // An endpoint with an order has a quantum of lanes a look; everywhere else a call must be filled.
  if (loads.every(({ keys }) => keys === undefined) && measured.claimed < 0.95 * LIMIT) {
    throw new Error(`${name}: a call claimed ${measured.claimed.toFixed(0)} of ${LIMIT}`)
  }
  return measured
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const sizes = ofSizes(size)
  const shapes = ofOtherShapes(size)
  const found: [Scenario, Measured][] = []
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    for (const scenario of [...sizes, ...shapes]) {
      const measured = await measure(sql, scenario)
      found.push([scenario, measured])
      say(
        `${scenario.name.padEnd(40)} p50 ${measured.p50.toFixed(1)}, p95 ${
          measured.p95.toFixed(1)
        } ms`,
      )
    }
  })
  const first = found[0]?.[1]
  const largest = found[sizes.length - 1]?.[1]
  if (first === undefined || largest === undefined) throw new Error('nothing was measured')
  return {
    note: `calls for ${LIMIT} deliveries, each with the results of the call before; × is to the ` +
      'first line; CPU is what the backend computed; WAL, rows that died, and look-ups in indexes, for a ' +
      'delivery; HOT of all updates',
    columns: [{ key: 'calls', label: 'calls', digits: 0 }, ...columns],
    rows: found.map(([{ name, calls }, measured]) => {
      const { series, values } = rowOf(name, measured, first)
      return { series, values: { calls, ...values } }
    }),
    targets: [
      {
        what: `p95 with ${sizes.at(-1)?.name}, to that with the fewest`,
        ...{ value: largest.p95 / first.p95, unit: '×', atMost: GROWTH },
      },
      {
        // With 1k waiting a call meets 400 gates, with more 16: growth shows from the second line on.
        what: `p95 with ${sizes.at(-1)?.name}, to that with ${sizes[1]?.name}`,
        ...{ value: largest.p95 / (found[1]?.[1].p95 ?? NaN), unit: '×', atMost: GROWTH },
      },
      {
        what: 'sequential scans in all of the calls',
        ...{ unit: '', atMost: 0 },
        value: found.reduce((sum, [, { seq_scans }]) => sum + seq_scans, 0),
      },
    ],
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/dispatch.ts', [dispatch])
