/**
 * A real worker, and a database that refuses one statement for one endpoint, with an error of each
 * class: all other endpoints get everything, and the bad one is shown with its error.
 */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import { workerOptions } from '../../functions/deliver/options.ts'
import { run } from '../../functions/deliver/run.ts'
import { wireRun } from '../../functions/deliver/wire.ts'
import { type OutboxDatabase, startOutbox } from './_support/database.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { allow, type Operation, refuse } from './_support/refuse.ts'

let db: OutboxDatabase
let sql: Sql

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  sql = (await db.open()).sql
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/**
 * Errors of a row, one of a user's code, one of ours. Errors that pass elsewhere (40P01, 55P03, 57014)
 * are in passing_refusals.test.ts: a call repeats them, so they delay a run as long as they last.
 */
const codes = ['22003', '23514', 'P0001', 'OH001']

const statements: [table: string, operation: Operation][] = [
  ['attempt', 'insert'],
  ['delivery', 'insert'],
  ['delivery', 'delete'],
  ['gate', 'update'],
  ['lane', 'update'],
  ['run_batch', 'update'],
  ['counter_change', 'insert'],
]

/** Each statement meets one code; with `--all` it meets every code. */
function cases(): [code: string, table: string, operation: Operation][] {
  const made: [string, string, Operation][] = [['40001', 'delivery', 'update']]
  for (const [place, [table, operation]] of statements.entries()) {
    for (const [at, code] of codes.entries()) {
      const isShort = place % codes.length === at
      if (isShort || Deno.env.get('OUTHOOK_TESTS') === 'all') made.push([code, table, operation])
    }
  }
  return made
}

/** A worker whose every request succeeds. */
function startWorker(): AsyncDisposable & { ended: boolean } {
  const stop = new AbortController()
  const [port] = sql.options.port
  const database = connectDirect({
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
  })
  const deps = wireRun({
    database,
    transport: 'fetch',
    log: () => {},
    routineLevel: 'debug',
    stop: stop.signal,
    senders: new Map([['webhook', {
      send: () => Promise.resolve({ outcome: 'delivered', status: 200 } as const),
    }]]),
  })
  const worker = {
    ended: false,
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort()
      await running
      await deps.transport.close()
      await database.close()
    },
  }
  const running = run(deps, workerOptions).finally(() => worker.ended = true)
  return worker
}

async function eventually(holds: () => Promise<boolean>): Promise<boolean> {
  for (const until = performance.now() + 120_000; performance.now() < until;) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}

async function deliveredTo(endpoints: string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from outbox.attempt a
    where a.outcome = 'delivered' and a.endpoint_id = any (${endpoints}::uuid[])`
  return row?.n ?? NaN
}

/** Where a person looks: the endpoint, its deliveries, the health of the queue. */
async function shown(bad: string): Promise<string> {
  const [row] = await sql<{ text: string }[]>`
    select concat_ws(' | ',
      (select to_jsonb(s) - 'id' from outbox.endpoint_status s where s.id = ${bad}),
      (select jsonb_agg(to_jsonb(s)) from outbox.delivery_status s where s.endpoint_id = ${bad}),
      (select to_jsonb(h) from outbox.queue_health h)) as text`
  return row?.text ?? ''
}

for (const [code, table, operation] of cases()) {
  Deno.test(`a worker delivers to all others while ${operation} of ${table} fails with ${code} for one endpoint`, async () => {
    const [bad = ''] = await addEndpoints(sql, { count: 1 })
    const others = await addEndpoints(sql, { count: 2 })
    await sql`update outbox.endpoint set timeout_ms = 500`
    await refuse(sql, { table, operation, endpoint: bad, code })
    await using worker = startWorker()
    try {
      const events = await publishMany(sql, 'thing.done', 8)
      const wanted = events.length * others.length
      expect(await eventually(async () => await deliveredTo(others) === wanted)).toBe(true)
      expect(worker.ended).toBe(false)
      const isHurt = async (): Promise<boolean> => await deliveredTo([bad]) < events.length
      if (await isHurt()) {
        expect(
          await eventually(async () => {
            return !(await isHurt()) ||
              (await shown(bad)).includes(`${code} no row of this endpoint`)
          }),
        ).toBe(true)
      }
      expect(worker.ended).toBe(false)
      expect(await deliveredTo(others)).toBe(wanted)
    } finally {
      await allow(sql)
    }
  })
}
