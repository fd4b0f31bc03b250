/**
 * The quiet organisation: it publishes at a rate and receives its deliveries. It is a process of its own, so
 * that the work of the stack, which the bench runs, is not in its times. One argument: the database.
 */

import postgres from 'postgres'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { pause } from '../engine/pause.ts'
import { lineStream } from '../run/lines.ts'
import { ARRIVAL_MS, type QuietRequest } from './options.ts'
import type { Seen } from './stages.ts'

const sql = postgres(Deno.args[0] ?? '', { max: 1, onnotice: () => {} })
/** When each event arrived, in ms since 1970. */
const arrived = new Map<number, number>()
let next = 0

const server = Deno.serve(
  { hostname: '127.0.0.1', port: 0, onListen: () => {} },
  async (request) => {
    const at = wallNow()
    const { data } = await request.json()
    if (!arrived.has(data.n)) arrived.set(data.n, at)
    return new Response('ok')
  },
)

/** As the clock of Postgres, in ms since 1970 with fractions. */
function wallNow(): number {
  return performance.timeOrigin + performance.now()
}

/** Publishes at the rate for so long, and returns each event with its times. */
async function publish({ rate, seconds }: QuietRequest): Promise<Seen[]> {
  const events: [number, Omit<Seen, 'arrivedAt'>][] = []
  const begun = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    await pause(Math.max(0, begun + n * 1000 / rate - performance.now()))
    const number = next++
    const payload = JSON.stringify({ n: number })
    const [row] = await sql`
      select outbox.publish('quiet.done', ${payload}::text::jsonb, 'quiet') as id`
    events.push([number, { id: row?.id, committedAt: wallNow() }])
  }
  const have = (): boolean => events.every(([n]) => arrived.has(n))
  await waitUntil(have, { timeoutMs: ARRIVAL_MS, everyMs: 5 })
  return events.map(([n, event]) => ({ ...event, arrivedAt: arrived.get(n) ?? null }))
}

async function answer(value: unknown): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`@${JSON.stringify(value)}\n`))
}

await answer({ origin: `http://127.0.0.1:${server.addr.port}` })
const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(lineStream())
for await (const line of lines) {
  // SAFETY: tests/bench/noisy.ts writes the requests.
  await answer({ seen: await publish(JSON.parse(line) as QuietRequest) })
}
await sql.end()
Deno.exit(0)
