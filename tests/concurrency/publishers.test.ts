/** Eight publishers and three routers at once: every committed event is routed once, in the order of its key. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters } from './_support/checks.ts'
import { startOutbox } from './_support/database.ts'
import { drain, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { newSeed, Random } from './_support/random.ts'

const EVENTS = 2400
const PUBLISHERS = 8
const KEYS = 24

/** The keys whose last transaction has ended, with the number of their next event. */
type Keys = { free: number[]; next: number[] }

Deno.test('route() gives each of some thousand events one delivery, in order, beside late and failed publishers', async () => {
  await using db = await startOutbox()
  const { sql: owner } = await db.open()
  await addEndpoints(owner, { count: 1, ordering: 'partition' })
  await addEndpoints(owner, { count: 1 })
  const seed = newSeed()
  const keys: Keys = {
    free: Array.from({ length: KEYS }, (_, key) => key),
    next: Array.from({ length: KEYS }, () => 0),
  }
  const done = new AbortController()
  const routers = Array.from({ length: 3 }, async () => {
    const run = new Run((await db.open()).sql)
    while (!done.signal.aborted) {
      const { error } = await run.call()
      if (error !== null) {
        throw new Error(`seed ${seed}: dispatch answered ${JSON.stringify(error)}`)
      }
    }
  })
  const publishers = Array.from({ length: PUBLISHERS }, async (_, index) => {
    const { sql } = await db.open()
    return await publishInTransactions(sql, { keys, random: new Random(seed + index) })
  })
  const [counts] = await Promise.all([
    Promise.all(publishers).finally(() => done.abort()),
    Promise.all(routers),
  ])
  const committed = counts.reduce((sum, count) => sum + count, 0)
  await routeAll(owner)
  await expectExactCounters(db.admin)

  const [found] = await db.admin`
    select (select count(*)::integer from outbox.event) as events, count(*)::integer as deliveries,
      count(distinct d.event_id)::integer as routed, (select count(*)::integer from outbox.unrouted) as unrouted
    from outbox.delivery d`
  expect({ seed, ...found }).toEqual({
    seed,
    events: committed,
    deliveries: 2 * committed,
    routed: committed,
    unrouted: 0,
  })
  const disordered = await db.admin`
    select q.lane_id, q.n from (
      select d.lane_id, (e.body::jsonb ->> 'n')::integer as n,
        lag((e.body::jsonb ->> 'n')::integer) over (partition by d.lane_id order by d.due_at) as before
      from outbox.delivery d join outbox.event e on e.id = d.event_id join outbox.lane l on l.id = d.lane_id
      where l.ordered
    ) q where q.n < q.before limit 5`
  expect([...disordered]).toEqual([])
  await drain(owner)
})

/** Publishes its share in transactions of one to five events of one key, a tenth of which roll back. */
async function publishInTransactions(
  sql: Sql,
  { keys, random }: { keys: Keys; random: Random },
): Promise<number> {
  let committed = 0
  while (committed < EVENTS / PUBLISHERS) {
    // Only the transactions of one key must not overlap.
    const key = keys.free.splice(random.int(keys.free.length), 1)[0]
    if (key === undefined) throw new Error('no key is free')
    const first = keys.next[key] ?? 0
    const count = 1 + random.int(5)
    await sql`begin`
    for (let n = first; n < first + count; n++) {
      await sql`select outbox.publish('thing.done', jsonb_build_object('n', ${n}::integer), p_partition_key => ${`key ${key}`})`
      // Between two statements the routers read; some transactions stay open longer than others.
      for (let pause = random.int(4); pause > 0; pause--) await sql`select`
    }
    if (random.next() < 0.1) {
      await sql`rollback`
    } else {
      await sql`commit`
      committed += count
      keys.next[key] = first + count
    }
    keys.free.push(key)
  }
  return committed
}

async function routeAll(sql: Sql): Promise<void> {
  const run = new Run(sql)
  while ((await run.call()).routed > 0);
}
