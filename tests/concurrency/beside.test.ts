/** Claims beside each other: one takes the gates that others have not locked, within the share of each organisation. */

import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'

const QUANTUM = 25
const EVENTS = 50

let db: OutboxDatabase
let owner: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  owner = await db.open()
  other = await db.open()
  // A claim waits for nobody: one that waits for another's gate fails.
  await owner.sql`set lock_timeout = '5s'`
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Endpoints of some organisations, each with as many deliveries; returns their ids by organisation, as claims take them. */
async function addOrgs(
  orgs: Record<string, number>,
  events = EVENTS,
): Promise<Record<string, string[]>> {
  const made: Record<string, string[]> = {}
  for (const [org, count] of Object.entries(orgs)) {
    await addEndpoints(owner.sql, { count, org, quantum: QUANTUM, maxInFlight: 1_000 })
    await owner.sql`
      select outbox.publish('thing.done', '{}', p_org_id => ${org}) from generate_series(1, ${events}::integer)`
  }
  const run = new Run(owner.sql)
  while ((await run.call()).routed > 0);
  for (const org of Object.keys(orgs)) {
    made[org] = (await owner.sql<{ id: string }[]>`
      select g.endpoint_id as id from outbox.gate g where g.org_id = ${org} order by g.next_at, g.id`)
      .map(({ id }) => id)
  }
  return made
}

/** How many deliveries of each endpoint a claim has, while another transaction has locked some gates. */
async function claimBeside(locked: string[], limit: number): Promise<Record<string, number>> {
  await other.sql`begin`
  await other.sql`select outbox.lock_gates(${locked}::uuid[])`
  const { deliveries, error } = await new Run(owner.sql).call([], limit)
  await other.sql`rollback`
  expect(error).toBeNull()
  const counts: Record<string, number> = {}
  for (const { endpoint } of deliveries) counts[endpoint] = (counts[endpoint] ?? 0) + 1
  return counts
}

/** Organisations wait for each other, for longer than any test takes. */
async function share(): Promise<void> {
  await db.admin`update outbox.router set shared_at = outbox.clock() + interval '1 hour' where true`
}

Deno.test('a claim is full beside others that have locked the first gates', async () => {
  const { a = [], b = [], c = [] } = await addOrgs({ a: 3, b: 3, c: 3 })
  const counts = await claimBeside([a[0], b[0], c[0], b[1]].map(String), 4 * QUANTUM)
  expect(Object.keys(counts).sort()).toEqual([a[1], a[2], b[2], c[1]].map(String).sort())
  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(4 * QUANTUM)
  await expectExactCounters(db.admin)
})

Deno.test('a claim beside others gives each organisation no more than its share', async () => {
  const { large = [], small = [] } = await addOrgs({ large: 12, small: 2 })
  await share()
  // An eighth of worker.batch_size, 50, is the share of an organisation.
  const counts = await claimBeside([large[0], large[1], small[0]].map(String), 400)
  const of = (ids: string[]): number => ids.reduce((sum, id) => sum + (counts[id] ?? 0), 0)
  expect({ large: of(large), small: of(small) }).toEqual({ large: 50, small: 50 })
  expect(counts[`${small[0]}`]).toBeUndefined()
  await expectExactCounters(db.admin)
})

Deno.test('a claim is full beside another one that has all the gates that come first', async () => {
  const endpoints = 250
  await addOrgs({ a: endpoints }, 1)
  await other.sql`begin`
  const runs = [new Run(other.sql), new Run(owner.sql), new Run(owner.sql)] as const
  const first = await runs[0].call([], 50)
  const second = await runs[1].call([], 50)
  const small = await runs[2].call([], 10)
  await other.sql`commit`
  const answers = [first, second, small]
  expect(answers.map(({ error }) => error)).toEqual([null, null, null])
  expect(answers.map(({ deliveries }) => deliveries.length)).toEqual([50, 50, 10])
  const claimed = answers.flatMap(({ deliveries }) => deliveries.map(({ endpoint }) => endpoint))
  expect(new Set(claimed).size).toBe(110)
  await expectExactCounters(db.admin)
  for (const [n, run] of runs.entries()) {
    await run.call(answers[n]?.deliveries.map((own) => report(own)))
  }
  await drain(owner.sql)
  await expectDeliveredOnce(db.admin, { events: 1, endpoints })
  await expectExactCounters(db.admin)
})

Deno.test('a claim beside others has its share of an organisation, however many of its gates are locked', async () => {
  const { large = [], small = [] } = await addOrgs({ large: 400, small: 2 }, 1)
  await share()
  const counts = await claimBeside([...large.slice(0, 250), `${small[0]}`], 200)
  const taken = new Set(Object.keys(counts))
  expect(taken.size).toBe(51)
  expect(taken.isSubsetOf(new Set([...large.slice(250, 300), `${small[1]}`]))).toBe(true)
  await expectExactCounters(db.admin)
})

Deno.test('a claim gets nothing, and waits for nobody, if others have locked all gates', async () => {
  const { a = [] } = await addOrgs({ a: 3 })
  expect(await claimBeside(a, 4 * QUANTUM)).toEqual({})
  await drain(owner.sql)
  await expectDeliveredOnce(db.admin, { events: EVENTS, endpoints: 3 })
})
