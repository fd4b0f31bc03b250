/** What a call reads beside a transaction that somebody left open, which keeps every dead row. */

import { expect } from '@std/expect'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, type Report, report } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'

const ENDPOINTS = 5
const EVENTS = 4
const SECONDS = 300

let db: OutboxDatabase
let session: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  session = await db.open()
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** The pages that a call of dispatch() read. */
async function pagesOf(call: Parameters<typeof dispatch>[1]): Promise<number> {
  const { run, seq, results = [], limit = 0 } = call
  return await pagesIn(
    `select outbox.dispatch($1, $2, $3, $4, 'worker')`,
    [run, seq, session.sql.json(results), limit],
  )
}

/** The pages that a statement read, those of the functions in it too. */
async function pagesIn(
  statement: string,
  values: Parameters<typeof session.sql.unsafe>[1] = [],
): Promise<number> {
  const [row] = await session.sql.unsafe(
    `explain (analyze, buffers, format json) ${statement}`,
    values,
  )
  const plan = row?.['QUERY PLAN']?.[0]?.Plan
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** The same of the second call: the first one reads the catalogs as well. */
async function pagesAtRest(statement: string): Promise<number> {
  await pagesIn(statement)
  return await pagesIn(statement)
}

async function setClock(second: number): Promise<void> {
  await session.sql`
    insert into outbox.test_clock (at) values (date_trunc('second', now()) + ${`${second} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/** The pages of each call of a run that routes, claims and records in every second. */
async function work(atSecond: (second: number) => Promise<void>): Promise<number[]> {
  await setClock(0)
  await addEndpoints(session.sql, { count: ENDPOINTS })
  const run = crypto.randomUUID()
  const pages: number[] = []
  let results: Report[] = []
  for (let second = 1; second <= SECONDS; second++) {
    await setClock(second)
    await publishMany(session.sql, 'thing.done', EVENTS)
    const call = { run, seq: second, results, limit: EVENTS * ENDPOINTS }
    pages.push(await pagesOf(call))
    // explain keeps the answer to itself; the same call again has what is leased of it.
    const { deliveries } = await dispatch(session.sql, call)
    expect(deliveries.length).toBe(EVENTS * ENDPOINTS)
    results = deliveries.map((delivery) => report(delivery))
    await atSecond(second)
  }
  return pages
}

/** What a monitor asks every few seconds. */
const watchers = [
  'select outbox.queue_backlog()',
  'select outbox.get_health()',
  'select * from outbox.queue_health',
  'select outbox.get_metrics()',
]

/** What a call does about new events and due gates, and comes to nothing when another call holds them. */
const parts = [
  'select outbox.has_unrouted()',
  'select outbox.read_unrouted()',
  'select outbox.due_gates(100, outbox.clock())',
]

/** Routes events that nobody wants, 2,000 times three of them. */
async function routeOften(): Promise<void> {
  await session.sql.unsafe(`do $$
    begin
      for n in 1 .. 2000 loop
        perform outbox.publish_many(jsonb_agg('{"type": "a", "payload": 1, "org_id": "nobody"}'::jsonb))
        from generate_series(1, 3);
        perform outbox.route(outbox.read_unrouted(), outbox.clock());
        commit;
      end loop;
    end $$`)
}

/**
 * The pages of these parts while events wait and every gate is due: with nobody beside, and while
 * another call routes and holds the gates. Statistics are made when no event waits, as mostly.
 */
async function pagesOfParts(other: Session): Promise<Map<string, number>> {
  const pages = new Map<string, number>()
  await session.sql`analyze outbox.unrouted, outbox.router`
  await publishMany(session.sql, 'thing.done', EVENTS)
  await dispatch(session.sql, { run: crypto.randomUUID(), seq: 1 })
  await publishMany(session.sql, 'thing.done', EVENTS)
  for (const part of parts) pages.set(part, await pagesAtRest(part))
  await other.sql`begin`
  await other.sql`select outbox.read_unrouted()`
  await other.sql`select outbox.lock_gates(array(select e.id from outbox.endpoint e))`
  for (const part of parts) pages.set(`${part}, held by another`, await pagesAtRest(part))
  await other.sql`rollback`
  return pages
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

Deno.test('dispatch() and what monitors ask read as many pages after five minutes beside an open transaction as before', async () => {
  const pin = await db.open()
  await pin.sql`begin isolation level repeatable read`
  await pin.sql`select from outbox.gate`
  const other = await db.open()
  const watched = new Map<string, number>()
  let before = new Map<string, number>()
  const pages = await work(async (second) => {
    if (second !== 40) return
    before = await pagesOfParts(other)
    for (const statement of watchers) watched.set(statement, await pagesAtRest(statement))
  })
  const first = median(pages.slice(10, 30))
  const last = median(pages.slice(-20))
  // The indexes grow by a level.
  expect(last).toBeLessThan(first * 1.5)
  await routeOften()
  const after = await pagesOfParts(other)
  for (const [part, few] of before) {
    const many = after.get(part) ?? NaN
    expect({ part, many, isBounded: many < few * 1.5 + 10 })
      .toEqual({ part, many, isBounded: true })
  }
  // Fresh statistics, which know of the rows that are dead to everybody else.
  await session.sql`analyze outbox.gate, outbox.lane, outbox.endpoint, outbox.unrouted`
  for (const [statement, before] of watched) {
    const after = await pagesAtRest(statement)
    expect({ statement, after, isBounded: after < before * 2 + 30 })
      .toEqual({ statement, after, isBounded: true })
  }
  await pin.sql`rollback`
})
