/**
 * What bad endpoints cost the good ones: 1,000 endpoints of which 5 % hang, 5 % fail and the rest answer at once, against the
 * same load without the bad ones. Rounds alternate in one run; the p99 from commit to arrival of the fast ones, and the ratio.
 *
 *   deno run -A tests/bench/mixed.ts [--endpoints 1000] [--rate 300] [--seconds 20] [--rounds 3]
 */

import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker } from '../soak/_support/processes.ts'

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
  },
})
const endpoints = Number(values.endpoints)
const rate = Number(values.rate)
const seconds = Number(values.seconds)
const everyMs = 50

/** One in twenty hangs and one in twenty fails. */
function kindOf(n: number): 'hang' | 'fail' | 'fast' {
  if (n % 20 === 0) return 'hang'
  return n % 20 === 1 ? 'fail' : 'fast'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Publishes `rate` events a second over all endpoints; those for bad ones only when they take part. */
async function load(sql: postgres.Sql, withBad: boolean): Promise<void> {
  const begun = performance.now()
  let next = 0
  while (performance.now() - begun < seconds * 1000) {
    const due = Math.floor((performance.now() - begun) / 1000 * rate)
    const batch: { type: string; payload: { at: number } }[] = []
    for (; next < due; next++) {
      const n = (next * 7) % endpoints
      if (withBad || kindOf(n) === 'fast') {
        batch.push({ type: `mixed.e${n}`, payload: { at: Date.now() } })
      }
    }
    if (batch.length > 0) {
      await sql`select outbox.publish_many(${JSON.stringify(batch)}::text::jsonb)`
    }
    await pause(everyMs)
  }
}

/** Forgets what the round before has left: what waits for its retry, and breakers. */
async function clear(sql: postgres.Sql): Promise<void> {
  await sql`select outbox.delete_endpoint(e.id) from outbox.endpoint e where e.status <> 'deleted'`
}

async function prepare(sql: postgres.Sql, receiver: string): Promise<void> {
  for (let n = 0; n < endpoints; n++) {
    await sql`select outbox.create_endpoint(${`${receiver}/${kindOf(n)}/${n}`}, ${[`mixed.e${n}`]})`
  }
}

function quantile(delays: number[], q: number): number {
  return delays.toSorted((a, b) => a - b)[Math.floor(delays.length * q)] ?? NaN
}

/** One side's load; gives the p99 of the fast endpoints. */
async function round(side: 'without' | 'with'): Promise<number> {
  await prepare(sql, receiver)
  await fetch(receiver, { method: 'DELETE' })
  await load(sql, side === 'with')
  await pause(2_000)
  const delays: number[] = await (await fetch(receiver)).json()
  const tail = quantile(delays, 0.99)
  print(
    `${side.padEnd(7)} bad ones: ${delays.length} arrivals, p50 ${
      quantile(delays, 0.5)
    } ms, p99 ${tail} ms, ${worker.rssMb().toFixed(0)} MB`,
  )
  await clear(sql)
  return tail
}

const dataDir = testFolder()
const receiverProcess = new Deno.Command(Deno.execPath(), {
  args: ['run', '-A', '--cached-only', new URL('./mixed/receiver.ts', import.meta.url).pathname],
  stdout: 'piped',
}).spawn()
const reader = receiverProcess.stdout.getReader()
const { value } = await reader.read()
const receiver = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`
const stack = await startStack({ dataDir, ports: 'free', functions: [] })
const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
const worker = startTaskWorker(stack.dbUrl)
try {
  const p99: { without: number[]; with: number[] } = { without: [], with: [] }
  const sides = ['without', 'with'] as const
  // The first round warms everything up and does not count; then each side goes first in turn.
  await round('without')
  for (let n = 0; n < Number(values.rounds); n++) {
    for (const side of n % 2 === 0 ? sides : sides.toReversed()) p99[side].push(await round(side))
  }
  const median = (numbers: number[]): number => quantile(numbers, 0.5)
  const ratio = median(p99.with) / median(p99.without)
  print(
    `p99 with ${median(p99.with)} ms, without ${median(p99.without)} ms, ratio ${ratio.toFixed(2)}`,
  )
} finally {
  await worker.stop()
  receiverProcess.kill()
  await sql.end()
  await stack.stop()
  await Deno.remove(dataDir, { recursive: true })
}
