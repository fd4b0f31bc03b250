/**
 * How long dispatch() takes with ever more deliveries waiting, and beside backlogs of other shapes:
 *
 *   deno run -A tests/bench/dispatch.ts [--deliveries 1000,100000,1000000,5000000] [--calls 2000] [--sizes-only]
 *
 * Tables are loaded in bulk; then each call claims 400 and reports the 400 before as delivered. As many
 * are put back as were delivered, outside of what is measured.
 */

import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { header, LIMIT, line, measureCalls, type Measured } from './engine/calls.ts'
import { withBench } from './engine/database.ts'

/** Some endpoints, each with so many deliveries in one lane, or in a lane for each of its keys. */
interface Load {
  endpoints: number
  each: number
  keys?: number
  secrets?: boolean
}

interface Scenario {
  name: string
  loads: Load[]
}

function ofSizes(sizes: number[]): Scenario[] {
  return sizes.map((size) => ({
    name: `${short(size)} waiting, 1,000 gates`,
    loads: [{ endpoints: 1000, each: Math.ceil(size / 1000) }],
  }))
}

function ofOtherShapes(): Scenario[] {
  return [
    {
      name: '100k waiting, 1,000 gates with a secret',
      loads: [{ endpoints: 1000, each: 100, secrets: true }],
    },
    { name: '100k waiting, 10,000 gates', loads: [{ endpoints: 10_000, each: 10 }] },
    {
      name: '200k waiting, 100,000 keys of one gate',
      loads: [{ endpoints: 1, each: 200_000, keys: 100_000 }],
    },
    {
      name: '1M in one lane, 100k in 1,000 gates',
      loads: [{ endpoints: 1000, each: 100 }, { endpoints: 1, each: 1_000_000 }],
    },
  ]
}

async function measure(sql: Sql, { loads }: Scenario, calls: number): Promise<Measured> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret, outbox.gate, outbox.lane,
      outbox.delivery, outbox.attempt, outbox.run, outbox.run_batch, bench.call`
  for (const { endpoints, each, keys = 0, secrets = false } of loads) {
    await sql`call bench.load(${endpoints}, ${each}, ${keys}, ${secrets})`
  }
  return await measureCalls(sql, calls)
}

function short(count: number): string {
  return count >= 1e6 ? `${count / 1e6}M` : `${count / 1e3}k`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      deliveries: { type: 'string', default: '1000,100000,1000000,5000000' },
      'sizes-only': { type: 'boolean', default: false },
      calls: { type: 'string', default: '2000' },
    },
  })
  const sizes = values.deliveries.split(',').map(Number)
  const calls = Number(values.calls)
  if (![...sizes, calls].every((count) => Number.isInteger(count) && count > 0)) {
    throw new Error('--deliveries and --calls take whole numbers, such as 1000,100000 and 2000')
  }
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    print(
      `${calls} calls of dispatch() for ${LIMIT} deliveries each: ms a call, WAL and dead rows a delivery`,
    )
    print(header())
    let first: Measured | undefined
    for (const scenario of [...ofSizes(sizes), ...values['sizes-only'] ? [] : ofOtherShapes()]) {
      const row = await measure(sql, scenario, calls)
      first ??= row
      print(line(scenario.name, row, first))
    }
  })
}

await main()
