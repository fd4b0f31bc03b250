/**
 * Signed deliveries a second, end to end and with every attempt recorded: the worker's loop on a direct connection, the
 * same loop by RPC, and undici alone with no database as the ceiling. Rounds alternate on one machine; medians and ratios.
 *
 *   deno run -A tests/bench/delivery.ts [--events 20000] [--endpoints 10] [--rounds 3] [--sides direct,undici]
 */

import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'

type Side = 'direct' | 'rpc' | 'undici'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    endpoints: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    sides: { type: 'string', default: 'direct,rpc,undici' },
  },
})
const events = Number(values.events)
const endpoints = Number(values.endpoints)
// SAFETY: a side that there is not has no arguments below, and fails there.
const sides = values.sides.split(',') as Side[]

interface Counts {
  received: number
  distinct: number
  ms: number
}

/** Starts `script` of this bench's folder; resolves with the process and its lines. */
function spawn(script: string, args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', new URL(`./delivery/${script}`, import.meta.url).pathname, ...args],
    stdout: 'piped',
  }).spawn()
}

async function prepare(stack: Stack, receiver: string): Promise<void> {
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const types = Array.from({ length: endpoints }, (_, n) => `bench.e${n}`)
  for (const type of types) {
    await sql`select outbox.create_endpoint(${`${receiver}/${type}`}, ${[type]},
      p_max_in_flight => 1000, p_quantum => 100)`
  }
  await sql.end()
}

async function publish(stack: Stack): Promise<void> {
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const payload = { data: 'x'.repeat(380) }
  for (let at = 0; at < events; at += 500) {
    const batch = Array.from({ length: 500 }, (_, n) => ({
      type: `bench.e${(at + n) % endpoints}`,
      payload,
    }))
    await sql`select outbox.publish_many(${JSON.stringify(batch)}::text::jsonb)`
  }
  await sql.end()
}

async function round(side: Side, stack: Stack, receiver: string): Promise<number> {
  await fetch(receiver, { method: 'DELETE' })
  if (side !== 'undici') await publish(stack)
  const urls = Array.from({ length: endpoints }, (_, n) => `${receiver}/bench.e${n}`)
  const args = {
    direct: [stack.dbUrl],
    rpc: [stack.apiUrl, stack.keys.secretKey],
    undici: urls,
  }[side]
  const child = spawn('sides.ts', [side, String(events), ...args])
  const { stdout } = await child.output()
  const counts: Counts = await (await fetch(receiver)).json()
  const rate = (counts.received / counts.ms) * 1000
  const facts = new TextDecoder().decode(stdout).trim().split('\n').at(-1)
  print(`${side}: ${Math.round(rate)}/s, ${counts.distinct} of ${events} distinct  ${facts}`)
  return rate
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

const dataDir = testFolder()
const receiverProcess = spawn('receiver.ts', [])
const reader = receiverProcess.stdout.getReader()
const { value } = await reader.read()
const receiver = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`
const stack = await startStack({ dataDir, ports: 'free', functions: [] })
try {
  await prepare(stack, receiver)
  const rates: Record<Side, number[]> = { direct: [], rpc: [], undici: [] }
  for (let n = 0; n < Number(values.rounds); n++) {
    for (const side of sides) rates[side].push(await round(side, stack, receiver))
  }
  for (const side of sides) {
    const rate = median(rates[side])
    print(
      `${side.padEnd(6)} ${Math.round(rate)}/s  ${
        (rate / median(rates.undici)).toFixed(2)
      } of undici`,
    )
  }
} finally {
  receiverProcess.kill()
  await stack.stop()
  await Deno.remove(dataDir, { recursive: true })
}
