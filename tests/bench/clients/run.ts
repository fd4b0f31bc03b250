/** One client in a process of its own; it answers a line of JSON at a time, as startChild() asks. */

import { createInterface } from 'node:readline'
import { argv, cpuUsage, stdin, stdout } from 'node:process'
import type { Client, ClientConfig } from './client.ts'
import { createFetch } from './fetch.ts'
import { createHttp2 } from './http2.ts'
import { createNodeHttp } from './node_http.ts'
import { createOurs } from './ours.ts'
import { createUndici } from './undici.ts'

export const creators = {
  ours: createOurs,
  undici: createUndici,
  fetch: createFetch,
  'node:http': createNodeHttp,
  'node:http2': createHttp2,
  'fetch, HTTP/2': (config: ClientConfig): Client => createFetch(config, true),
} as const

export type ClientName = keyof typeof creators

/** POSTs to the targets in turn. */
export interface Round {
  posts: number
  slots: number
  targets: number
  /** Use a new client, which has no connections. */
  isCold?: boolean
  /** Begin the POSTs in groups of `slots` with pauses in between; absent: always `slots` in flight. */
  pauses?: { ms: number; longEach: number; longMs: number }
}

export interface RoundResult {
  ms: number
  /** The CPU time of this process, all threads, user and system. */
  cpuUs: number
  /** The resident memory of this process at the end. */
  mb: number
  /** POSTs without a 200, by their error. */
  lost: Record<string, number>
  /** POSTs with a response that is another one's. */
  foreign: number
}

async function runRound(client: Client, round: Round): Promise<RoundResult> {
  const lost: Record<string, number> = {}
  let foreign = 0
  let next = 0
  const begun = performance.now()
  const cpu = cpuUsage()

  async function one(): Promise<void> {
    const n = next++
    const id = crypto.randomUUID()
    try {
      if (await client.post(n % round.targets, id) !== id) foreign++
    } catch (error) {
      const name = nameOf(error)
      lost[name] = (lost[name] ?? 0) + 1
    }
  }

  async function keepSending(): Promise<void> {
    while (next < round.posts) await one()
  }

  if (round.pauses === undefined) {
    await Promise.all(Array.from({ length: round.slots }, keepSending))
  } else {
    const { ms, longEach, longMs } = round.pauses
    for (let group = 1; next < round.posts; group++) {
      await Promise.all(Array.from({ length: round.slots }, one))
      await pause(group % longEach === 0 ? longMs : Math.random() * ms)
    }
  }
  const { user, system } = cpuUsage(cpu)
  const mb = Deno.memoryUsage().rss / 1_000_000
  return { ms: performance.now() - begun, cpuUs: user + system, mb, lost, foreign }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return code === '' ? error.message.slice(0, 80) : code
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function say(value: unknown): void {
  stdout.write(`@${JSON.stringify(value)}\n`)
}

if (import.meta.main) {
  // SAFETY: clients.ts starts this process and gives exactly these.
  const [name, config] = [argv[2] as ClientName, JSON.parse(argv[3] ?? '') as ClientConfig]
  let client = creators[name](config)
  say({ ready: true })
  for await (const line of createInterface({ input: stdin })) {
    // SAFETY: as above.
    const round = JSON.parse(line) as Round
    if (round.isCold === true) {
      await client.close()
      client = creators[name](config)
    }
    say(await runRound(client, round))
  }
  await client.close()
  Deno.exit(0)
}
