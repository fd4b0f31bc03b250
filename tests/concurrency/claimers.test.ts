/** Sixteen claimers at once: no delivery is leased twice, and no endpoint gets more than it allows. */

import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { newSeed, Random } from './_support/random.ts'

const CLAIMERS = 16
const MAX_IN_FLIGHT = 7

let db: OutboxDatabase

Deno.test.beforeAll(async () => {
  db = await startOutbox()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Notes every state of a gate in which more is under way than its endpoint allows; counts by hand, not by in_flight. */
async function watchInFlight(): Promise<AsyncDisposable & { seen(): Promise<number> }> {
  const { admin } = db
  await admin`create table public.excess (endpoint_id uuid, held bigint)`
  await admin`
    create function public.note_excess() returns trigger language plpgsql as $$
    begin
      insert into public.excess
      select h.endpoint_id, h.held from (
        select d.endpoint_id, count(distinct case when l.ordered then l.id::text else d.event_id::text end) as held
        from outbox.delivery d join outbox.lane l on l.id = d.lane_id
        where d.leased_until is not null group by d.endpoint_id
      ) h join outbox.endpoint e on e.id = h.endpoint_id
      where h.held > e.max_in_flight;
      return null;
    end $$`
  // At the end of the transaction, when all of a claim's changes are made.
  await admin`
    create constraint trigger note_excess after update on outbox.delivery deferrable initially deferred
    for each row when (new.leased_until is not null) execute function public.note_excess()`
  return {
    seen: async () => (await admin`select from public.excess`).length,
    [Symbol.asyncDispose]: async () => {
      await admin`drop trigger note_excess on outbox.delivery`
      await admin`drop function public.note_excess()`
      await admin`drop table public.excess`
    },
  }
}

Deno.test('claim() never leases a delivery twice nor more than max_in_flight, with 16 claimers', async () => {
  const owner = await db.open()
  await addEndpoints(owner.sql, { count: 6, maxInFlight: MAX_IN_FLIGHT, quantum: 3 })
  await addEndpoints(owner.sql, { count: 2, maxInFlight: 2, quantum: 5, ordering: 'partition' })
  await publishMany(owner.sql, 'thing.done', 150)
  await new Run(owner.sql).call()
  const seed = newSeed()
  const held = new Set<string>()
  let delivered = 0
  await using watch = await watchInFlight()
  await Promise.all(Array.from({ length: CLAIMERS }, async (_, index) => {
    const random = new Random(seed + index)
    const run = new Run((await db.open()).sql)
    let mine = (await run.call([], 10)).deliveries
    for (let call = 1; delivered < 8 * 150; call++) {
      if (call > 2000) throw new Error(`seed ${seed}: no end after ${call} calls`)
      for (const { event, endpoint } of mine) {
        const name = `${event} ${endpoint}`
        if (held.has(name)) throw new Error(`seed ${seed}: ${name} is leased twice`)
        held.add(name)
      }
      const results = mine.map((delivery) =>
        report(delivery, random.next() < 0.8 ? 'delivered' : 'released')
      )
      for (const { event, endpoint } of results) held.delete(`${event} ${endpoint}`)
      const answer = await run.call(results, 1 + random.int(20))
      expect({ seed, error: answer.error, stale: answer.stale }).toEqual({
        seed,
        error: null,
        stale: 0,
      })
      delivered += results.filter(({ outcome }) => outcome === 'delivered').length
      mine = answer.deliveries
    }
  }))
  expect(await watch.seen()).toBe(0)
  await expectExactCounters(db.admin)
  await expectDeliveredOnce(db.admin, { events: 150, endpoints: 8 })
})

Deno.test('claim() gives each lost delivery to one claimer, under a new attempt, when runs die', async () => {
  const owner = await db.open()
  await addEndpoints(owner.sql, { count: 3, maxInFlight: 50 })
  await publishMany(owner.sql, 'thing.done', 60)
  const clock = async (seconds: number): Promise<void> => {
    await owner.sql`
      insert into outbox.test_clock (at) values (now() + ${`${seconds} s`}::interval)
      on conflict (only_row) do update set at = excluded.at`
  }
  const runs = await Promise.all(
    Array.from({ length: CLAIMERS }, async () => new Run((await db.open()).sql)),
  )
  const openDeliveries = async (): Promise<number> => {
    const [row] = await db.admin`select count(*)::integer as n from outbox.delivery`
    return row?.n
  }
  const attempts = new Set<string>()
  let claims = 0
  for (const second of [60, 122]) {
    // Every run that held something has died since: all three endpoints fill up anew. A third time
    // they would not, because a delivery that has lost two leases is claimed alone.
    await clock(second - 2)
    const before = claims
    for (let call = 1; claims < before + 150; call++) {
      // The first calls notice the lost leases, whose retry is a second later.
      if (call === 2) await clock(second)
      if (call > 200) throw new Error(`${claims} claims after ${call} calls of each run`)
      const answers = await Promise.all(runs.map((run) => run.call([], 5)))
      for (const { event, endpoint, attempt } of answers.flatMap(({ deliveries }) => deliveries)) {
        claims += 1
        attempts.add(`${event} ${endpoint} ${attempt}`)
      }
    }
    expect(claims).toBe(before + 150)
    await expectExactCounters(db.admin)
  }
  expect(attempts.size).toBe(claims)
  // Isolated deliveries are sent one by one.
  for (let second = 300; await openDeliveries() > 0; second += 10) {
    if (second > 3000) throw new Error('deliveries stay open')
    await clock(second)
    await drain(owner.sql)
  }
  await expectDeliveredOnce(db.admin, { events: 60, endpoints: 3 })
  const [lost] = await db.admin`
    select count(*)::integer as n from outbox.attempt a where a.error_class = 'lease_expired'`
  expect(lost).toEqual({ n: claims })
})
