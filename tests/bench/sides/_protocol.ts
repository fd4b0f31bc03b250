/**
 * How the bench talks to a side, which is a process of its own: one line of JSON in, one out.
 * A side's file says what the side does; this one, which runs under Node and Deno, does the talking.
 */

import { argv, exit, stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { type BenchEvent, eventOf, fanOut } from './_event.ts'

/** What a side is started with. */
export interface SideConfig {
  role: 'worker' | 'publisher'
  origin: string
  secret: string
  endpoints: number
  /** Whether each event goes to all of them, instead of to one in turn. */
  isFan: boolean
  /** The name of its database or queue. */
  store: string
  dbUrl: string
  redisPort: number
  apiUrl: string
  apiKey: string
  /** Its own settings, by their names. */
  tuning: Record<string, number>
}

/** What the store says: null where there is none. */
export interface Stored {
  unfinished: number | null
  finished: number | null
}

/** A side in a process. Counts are since its start. */
export interface Side {
  /** Deliveries handed to it, and those of them that failed. */
  readonly counts: { claimed: number; errors: number; lastError?: string }
  /** Begins to work; resolves when it does. */
  work(): Promise<void>
  /** Finishes what it has begun, records it, and rests. */
  rest(): Promise<void>
  /** Commits these events in one transaction. */
  publish(events: BenchEvent[]): Promise<void>
  /** Whether one event reaches all who subscribe to its type; else each is published for itself. */
  readonly fansOut?: boolean
  stored(): Promise<Stored>
  /** What else it measured, since the last time it was asked. */
  extra?(): Record<string, number>
  end(): Promise<void>
}

export type SideRequest =
  | { do: 'work' | 'rest' | 'counts' | 'stored' | 'extra' }
  | { do: 'publish'; from: number; count: number; batch: number }
  | { do: 'feed'; from: number; rate: number; seconds: number; tickMs: number }

/** Runs the side that `connect` makes until its input ends. */
export async function serveSide(
  connect: (config: SideConfig) => Side | Promise<Side>,
): Promise<void> {
  // SAFETY: the bench starts this process and gives exactly this.
  const config = JSON.parse(argv[2] ?? '') as SideConfig
  const side = await connect(config)
  reply({ ready: true })
  for await (const line of createInterface({ input: stdin })) {
    try {
      // SAFETY: as above.
      reply(await answer(side, config, JSON.parse(line) as SideRequest))
    } catch (error) {
      reply({ error: error instanceof Error ? error.message : String(error) })
    }
  }
  await side.end()
  exit(0)
}

async function answer(side: Side, config: SideConfig, request: SideRequest): Promise<unknown> {
  switch (request.do) {
    case 'work':
      await side.work()
      return {}
    case 'rest':
      await side.rest()
      return { ...side.counts }
    case 'counts':
      return { ...side.counts }
    case 'stored':
      return await side.stored()
    case 'extra':
      return side.extra?.() ?? {}
    case 'publish': {
      const { from, count, batch } = request
      for (let at = from; at < from + count; at += batch) {
        await side.publish(events(side, config, at, Math.min(batch, from + count - at)))
      }
      return {}
    }
    case 'feed':
      return await feed(side, config, request)
  }
}

function events(
  { fansOut }: Side,
  { endpoints, isFan }: SideConfig,
  from: number,
  count: number,
): BenchEvent[] {
  const numbers = Array.from({ length: count }, (_, index) => from + index)
  if (!isFan) return numbers.map((n) => eventOf(n, endpoints))
  return numbers.flatMap((n) => fanOut(n, fansOut ? 1 : endpoints))
}

/**
 * Publishes at a steady rate, a transaction each `tickMs` at most, and tells when each was
 * committed: [first event, count, ms since the epoch].
 */
async function feed(
  side: Side,
  config: SideConfig,
  { from, rate, seconds, tickMs }: Extract<SideRequest, { do: 'feed' }>,
): Promise<{ commits: [number, number, number][] }> {
  const commits: [number, number, number][] = []
  const begun = performance.now()
  const total = Math.round(rate * seconds)
  let sent = 0
  while (sent < total) {
    const due = Math.min(total, Math.floor((performance.now() - begun) / 1000 * rate) + 1)
    if (due > sent) {
      await side.publish(events(side, config, from + sent, due - sent))
      commits.push([from + sent, due - sent, performance.timeOrigin + performance.now()])
      sent = due
    }
    const next = Math.max(tickMs - (performance.now() - begun) % tickMs, 1)
    await new Promise((resolve) => setTimeout(resolve, next))
  }
  return { commits }
}

/** Lines that begin so are ours; what a library writes is passed over. */
function reply(value: unknown): void {
  stdout.write(`@${JSON.stringify(value)}\n`)
}
