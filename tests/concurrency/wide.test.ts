import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters } from './_support/checks.ts'
import { startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

/** 10,000 endpoints at 2,000 deliveries a dispatch; the events behind ride with the last of them. */
const DISPATCHES = 5

Deno.test('one event for 10,000 endpoints is routed over several dispatches and holds nobody up', async () => {
  await using db = await startOutbox()
  const { sql } = await db.open()
  const other = new Run((await db.open()).sql)
  await addEndpoints(sql, { count: 10_000, patterns: ['wide'] })
  await addEndpoints(sql, {
    count: 1,
    patterns: ['early', 'small'],
    maxInFlight: 1000,
    quantum: 1000,
  })
  await publishMany(sql, 'early', 100)
  const run = new Run(sql)
  const early = await run.call([], 100)
  let results = early.deliveries.map((delivery) => report(delivery))
  expect(results.length).toBe(100)

  const wide = await publishOne(sql, 'wide')
  const small = await publishMany(sql, 'small', 50)
  let routed = 0
  for (let call = 1; call <= DISPATCHES; call++) {
    const answer = await run.call(results, 400)
    expect(answer).toMatchObject({ applied: results.length, stale: 0, error: null })
    expect(answer.routed).toBeLessThanOrEqual(2000)
    routed += answer.routed
    results = answer.deliveries.map((delivery) => report(delivery))
    // A second run gets its share meanwhile.
    const beside = await other.call([], 100)
    expect(beside.error).toBe(null)
    routed += beside.routed
    results.push(...beside.deliveries.map((delivery) => report(delivery)))
  }
  expect(await db.admin`select from outbox.unrouted u where u.event_id = ${wide}`).toHaveLength(0)
  routed += (await run.call(results, 0)).routed
  expect(await db.admin`select from outbox.unrouted`).toHaveLength(0)
  expect(routed).toBe(10_000 + small.length)
  await expectExactCounters(db.admin)

  await drain(sql)
  const [row] = await db.admin`
    select count(*)::integer as deliveries, count(distinct a.endpoint_id)::integer as endpoints
    from outbox.attempt a where a.event_id = ${wide} and a.outcome = 'delivered'`
  expect(row).toEqual({ deliveries: 10_000, endpoints: 10_000 })
  await db.admin`delete from outbox.attempt a where a.event_id = ${wide}`
  await db.admin`delete from outbox.event e where e.id = ${wide}`
  await expectDeliveredOnce(db.admin, { events: 150, endpoints: 1 })
})
