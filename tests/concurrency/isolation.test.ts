/** A refusal of the database affects one delivery or one endpoint, and no other. */

import { expect } from '@std/expect'
import { deadlocks, expectExactCounters } from './_support/checks.ts'
import { deliverBeside, deliveredTo, openOf } from './_support/bad_endpoint.ts'
import { db, sql, timePasses, useOneSession } from './_support/one_session.ts'
import { drain, type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { patienceMs } from '../_support/patience.ts'
import { allow, type Operation, refuse } from './_support/refuse.ts'

useOneSession()

/** Every table in which dispatch writes rows that belong to an endpoint, or to an event of it. */
const tables = [
  'attempt',
  'counter_change',
  'dead_letter',
  'delivery',
  'endpoint',
  'endpoint_refusal',
  'event',
  'gate',
  'lane',
  'lane_refusal',
  'refusal',
  'run_batch',
  'unroutable',
  'unrouted',
]
const operations: Operation[] = ['insert', 'update', 'delete']

for (const table of tables) {
  for (const operation of operations) {
    Deno.test(`dispatch() delivers to all others when ${operation} of ${table} fails for one endpoint`, async () => {
      const [bad = ''] = await addEndpoints(sql, { count: 1, breakerThreshold: 4, retryAfter: 1 })
      await sql`update outbox.endpoint set retry = jsonb_set(retry, '{max_retries}', '2') where id = ${bad}`
      const ordered = await addEndpoints(sql, { count: 1, ordering: 'partition' })
      const others = [...await addEndpoints(sql, { count: 2 }), ...ordered]
      const before = await publishMany(sql, 'thing.before', 6)
      await new Run(sql).call([], 4)
      await refuse(sql, { table, operation, endpoint: bad })
      const events = [...before, ...await publishMany(sql, 'thing.done', 12)]
      try {
        await deliverBeside(bad, 30, 'call')
        expect(await openOf(others)).toBe(0)
        expect(await deliveredTo(others, events)).toBe(others.length * events.length)
      } finally {
        await allow(sql)
      }
      // After the cause is removed, retry_now() sends everything.
      await timePasses(600)
      await sql`
        select outbox.retry_now(s.event_id, s.endpoint_id) from outbox.delivery_status s
        where s.open and s.status <> 'processing'`
      for (let round = 0; round < 5; round++) {
        await drain(sql)
        await timePasses(600)
      }
      expect(await openOf([bad, ...others])).toBe(0)
      await expectExactCounters(db.admin)
    })
  }
}

Deno.test('four runs at once lease nothing twice and deadlock never while every result of one endpoint is refused', async () => {
  await sql`delete from outbox.test_clock`
  const [bad = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000, retryAfter: 1 })
  const others = await addEndpoints(sql, { count: 6, maxInFlight: 1000 })
  const before = await deadlocks(db.admin)
  await refuse(sql, { table: 'attempt', operation: 'insert', endpoint: bad })
  const events = await publishMany(sql, 'thing.done', 60)
  const claims = new Set<string>()
  try {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => db.open()))
    await Promise.all(sessions.map(async ({ sql }) => {
      const run = new Run(sql)
      let results: Report[] = []
      // On a busy machine the refused deliveries are due again at each call and take their share of it.
      const deadline = performance.now() + patienceMs
      const wanted = others.length * events.length
      while (await deliveredTo(others, events) < wanted && performance.now() < deadline) {
        const { deliveries } = await run.call(results, 40)
        for (const { event, endpoint, attempt } of deliveries) {
          const claim = `${event} ${endpoint} ${attempt}`
          expect(claims.has(claim)).toBe(false)
          claims.add(claim)
        }
        results = deliveries.map((delivery) => report(delivery))
      }
      await run.call(results)
    }))
    expect(await openOf(others)).toBe(0)
    expect(await deliveredTo(others, events)).toBe(others.length * events.length)
    expect(await deadlocks(db.admin)).toBe(before)
    await expectExactCounters(db.admin)
  } finally {
    await allow(sql)
  }
})
