/**
 * The control: CPU load that has nothing to do with Outhook, as much as an organisation caused, in pieces of
 * the same length, half of it in each of two sessions of Postgres and two threads. One argument: the database.
 */

import postgres, { type Sql } from 'postgres'
import { pause } from '../engine/pause.ts'
import { lineStream } from '../run/lines.ts'
import type { Load, LoadRequest } from './options.ts'

/** Rows that one session counts in a ms of CPU, measured before the load starts. */
let rowsOfMs = 1000
let isOn = false
let running: Promise<unknown>[] = []
let threads: Worker[] = []
const sessions = [0, 1].map(() => postgres(Deno.args[0] ?? '', { max: 1, onnotice: () => {} }))

async function count(sql: Sql, rows: number): Promise<void> {
  await sql`select count(*) from generate_series(1, ${Math.round(rows)}::integer)`
}

/**
 * With pieces as long as those of the load: the rows of a longer one do not fit into `work_mem`, so that each of
 * them costs more.
 */
async function calibrate(pieceMs: number): Promise<void> {
  const [sql] = sessions
  if (sql === undefined) return
  for (let round = 0; round < 5; round++) {
    let least = Infinity
    for (let n = 0; n < 20; n++) {
      const begun = performance.now()
      await count(sql, rowsOfMs * pieceMs)
      least = Math.min(least, performance.now() - begun)
    }
    rowsOfMs *= pieceMs / least
  }
}

/** Pieces of so many ms of CPU, as often as the share of a processor needs. */
async function repeat(sql: Sql, share: number, pieceMs: number): Promise<void> {
  const everyMs = pieceMs / share
  for (let at = performance.now(); isOn; at = Math.max(at + everyMs, performance.now() - 1000)) {
    await pause(Math.max(0, at - performance.now()))
    await count(sql, rowsOfMs * pieceMs)
  }
}

async function start({ postgres, others, pieceMs }: Load): Promise<void> {
  await calibrate(pieceMs)
  isOn = true
  if (postgres > 0.01) running = sessions.map((sql) => repeat(sql, postgres / 2, pieceMs))
  if (others > 0.01) {
    const url = new URL(`./spin.ts?share=${Math.min(1, others / 2)}`, import.meta.url)
    threads = [0, 1].map(() => new Worker(url, { type: 'module' }))
  }
}

async function stop(): Promise<void> {
  isOn = false
  for (const thread of threads) thread.terminate()
  await Promise.all(running)
}

async function answer(value: unknown): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`@${JSON.stringify(value)}\n`))
}

await answer({})
const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(lineStream())
for await (const line of lines) {
  // SAFETY: tests/bench/noisy.ts writes the requests.
  const request = JSON.parse(line) as LoadRequest
  if (request === 'stop') await stop()
  else await start(request)
  await answer({})
}
Deno.exit(0)
