/** A turn waits for the gates of its organisation, and new events of others do not wait for the turn. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function publish(org: string, count: number): Promise<void> {
  await one.sql`
    select outbox.publish('thing.done', '{}', p_org_id => ${org}) from generate_series(1, ${count}::integer)`
}

async function routedOf(org: string): Promise<number> {
  const [row] = await db.admin<{ n: number }[]>`
    select count(*)::integer as n from outbox.delivery d
    join outbox.endpoint e on e.id = d.endpoint_id where e.org_id = ${org}`
  return row?.n ?? NaN
}

Deno.test('a turn that fails for a gate that somebody holds is not repeated at once, and new events of others go on', async () => {
  const wide = await addEndpoints(one.sql, { count: 60, org: 'wide' })
  await addEndpoints(one.sql, { count: 1, org: 'small' })
  await publish('wide', 200)
  await new Run(one.sql).call()
  expect(await db.admin`select from outbox.waiting_part p where p.org_id = 'wide'`)
    .not.toHaveLength(0)

  await other.sql`begin`
  await other.sql`select outbox.lock_gates(${wide}::uuid[])`
  await one.sql`set lock_timeout = '300ms'`
  const failed: number[] = []
  for (let n = 1; n <= 10; n++) {
    await publish('small', 1)
    await new Run(one.sql).call().catch(() => failed.push(n))
    // Each call may take as long as its time limit, so that nobody counts as waiting after it.
    await db.admin`update outbox.router set shared_at = outbox.clock() - interval '6 s' where true`
  }
  // The event of a failed turn is in the next call.
  expect(failed).toEqual([5, 10])
  expect(await routedOf('small')).toBe(9)
  await other.sql`rollback`
  await one.sql`reset lock_timeout`

  await drain(one.sql)
  const [left] = await db.admin`
    select (select count(*) from outbox.unrouted) + (select count(*) from outbox.delivery) as n`
  expect(Number(left?.n)).toBe(0)
  const [sent] = await db.admin`
    select count(*)::integer as n, count(distinct (event_id, endpoint_id))::integer as pairs
    from outbox.attempt where outcome = 'delivered'`
  expect(sent).toEqual({ n: 200 * 60 + 10, pairs: 200 * 60 + 10 })
  await expectExactCounters(db.admin)
})
