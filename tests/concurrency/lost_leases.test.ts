/** A lost lease is found however many lanes of its gate are due before it. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, startOutbox } from './_support/database.ts'
import { report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'

/** More lanes than one look at the lanes of a gate that can be served reads. */
const KEYS = 1500

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

async function clock(seconds: number): Promise<void> {
  await sql`
    insert into outbox.test_clock (at) values (now() + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/** One event for each of many keys, routed at the clock's zero. */
async function publishKeys(run: Run): Promise<void> {
  await clock(0)
  await sql`
    select outbox.publish_many((
      select jsonb_agg(jsonb_build_object('type', 'thing.done', 'payload', '{}'::jsonb, 'partition_key', 'key ' || n))
      from generate_series(1, ${KEYS}::integer) n))`
  while ((await run.call()).routed > 0);
}

Deno.test('claim() takes lost leases back from a full gate with 1,500 lanes due before them', async () => {
  const run = new Run(sql)
  await addEndpoints(sql, { count: 1, ordering: 'partition', maxInFlight: 20, retryAfter: 3600 })
  await publishKeys(run)
  expect((await run.call([], 50)).deliveries.length).toBe(20)
  expect((await run.call([], 50)).deliveries).toEqual([])
  await clock(60)
  expect((await run.call([], 50)).deliveries.length).toBe(20)
  await expectExactCounters(db.admin)
})

Deno.test('claim() takes a lost probe back with 1,500 lanes due before it', async () => {
  const run = new Run(sql)
  await addEndpoints(sql, {
    count: 1,
    ordering: 'partition',
    breakerThreshold: 1,
    retryAfter: 3600,
  })
  await publishKeys(run)
  const [first] = (await run.call([], 1)).deliveries
  if (first === undefined) throw new Error('nothing was claimed')
  await run.call([report(first, 'failed')])
  await clock(10)
  expect((await run.call([], 50)).deliveries.length).toBe(1)
  expect((await run.call([], 50)).deliveries).toEqual([])
  // The probe's run has died; another one takes its place, and closes the breaker.
  await clock(70)
  const probe = (await run.call([], 50)).deliveries
  expect(probe.length).toBe(1)
  await run.call(probe.map((delivery) => report(delivery)))
  await clock(100)
  expect((await run.call([], 50)).deliveries.length).toBe(50)
  await expectExactCounters(db.admin)
})
