/**
 * A real worker, and a database that refuses one statement for one endpoint, with an error of each
 * class: all other endpoints get everything, and the bad one is shown with its error.
 */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { type OutboxDatabase, startOutbox } from './_support/database.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { allow, type Operation, refuse } from './_support/refuse.ts'
import { eventually, startWorker } from './_support/worker.ts'

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

/** Errors of a row, one of a user's code, one of ours. */
const codes = ['22003', '23514', 'P0001', 'OH001']

/** Usually temporary errors: the run repeats its call, and then requests to refuse rows. */
const stalls = ['40P01', '55P03', '57014']

const statements: [table: string, operation: Operation][] = [
  ['attempt', 'insert'],
  ['delivery', 'insert'],
  ['delivery', 'delete'],
  ['gate', 'update'],
  ['lane', 'update'],
  ['run_batch', 'update'],
  ['counter_change', 'insert'],
]

/** Each statement meets one code, and three meet a stall; with `--all` each meets every code. */
function cases(): [code: string, table: string, operation: Operation][] {
  const isAll = Deno.env.get('OUTHOOK_TESTS') === 'all'
  const made: [string, string, Operation][] = [
    ['40001', 'delivery', 'update'],
    // A failed assertion, which OTHERS of plpgsql does not catch.
    ['P0004', 'attempt', 'insert'],
    ['P0004', 'delivery', 'update'],
    ['55P03', 'gate', 'update'],
    ['57014', 'lane', 'update'],
    ['40P01', 'delivery', 'delete'],
  ]
  for (const [place, [table, operation]] of statements.entries()) {
    for (const [at, code] of codes.entries()) {
      const isShort = place % codes.length === at
      if (isShort || isAll) made.push([code, table, operation])
    }
    for (const code of isAll ? stalls : []) made.push([code, table, operation])
  }
  return [...new Map(made.map((one) => [one.join(), one])).values()]
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
    await using worker = startWorker(sql)
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
