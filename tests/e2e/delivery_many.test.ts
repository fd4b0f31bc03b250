/**
 * Thousands of deliveries to 50 endpoints, without faults, edge runs and a worker side by side: everyone gets exactly what they
 * subscribed to, once.
 */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startOuthook, type TestEndpoint, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'
import { patienceMs } from '../_support/patience.ts'

const eventCount = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 600 : 2_000
const domains = ['order', 'invoice', 'user', 'stock', 'parcel']
const actions = ['made', 'changed', 'closed', 'lost']
const types = domains.flatMap((domain) => actions.map((action) => `${domain}.${action}`))

/** What each of the 50 endpoints subscribes to. */
const wishes: string[][] = [
  ...types.map((type) => [type]),
  ...domains.map((domain) => [`${domain}.*`]),
  ...domains.map((domain) => [`${domain}.*`]),
  ['*'],
  ['*'],
  // Several patterns that match one event: it comes once all the same.
  ...domains.map((domain) => [`${domain}.*`, `${domain}.made`, 'order.lost']),
  ['*', 'order.*', 'order.made'],
  // Nearly a match.
  ...domains.map((domain) => [domain]),
  ...domains.map((domain) => [`${domain}.made.today`]),
  ['orders.*'],
  ['made'],
]

/** The rule of matching once more, in other words than the schema's. */
function wants(patterns: string[], type: string): boolean {
  return patterns.some((pattern) =>
    pattern === '*' || pattern === type ||
    pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
  )
}

/** What is missing, and what came that should not have or came once more. */
function differences(expected: string[], came: (string | undefined)[]): string[] {
  const open = new Set(expected)
  const extra = came.filter((id) => id === undefined || !open.delete(id))
  return [...[...open].map((id) => `missing ${id}`), ...extra.map((id) => `extra ${id}`)]
}

/** However busy the machine is, no try times out and no lease is lost: either would send an event again. */
const unhurried = { p_timeout_ms: 60_000 }

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver'] })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** Publishes from four sessions, ten events a transaction; returns the type of each id. */
async function publishAll(): Promise<Map<string, string>> {
  const published = new Map<string, string>()
  async function session(first: number): Promise<void> {
    for (let at = first; at < eventCount; at += 40) {
      const batch = Array.from({ length: 10 }, (_, n) => types[(at + n) % types.length] ?? '')
      const rows = await outhook.sql`
        select t.type, outbox.publish(t.type, jsonb_build_object('n', ${at} + t.n)) as id
        from unnest(${batch}::text[]) with ordinality t (type, n)`
      for (const { id, type } of rows) published.set(id, type)
    }
  }
  await Promise.all([0, 10, 20, 30].map(session))
  return published
}

async function isDone(): Promise<boolean> {
  const [row] = await outhook.sql`
    select not exists (select from outbox.unrouted) and not exists (select from outbox.delivery) as done`
  return row?.done
}

Deno.test('50 endpoints get each event that they want exactly once', async () => {
  expect(wishes).toHaveLength(50)
  const endpoints: TestEndpoint[] = []
  for (const [n, p_event_types] of wishes.entries()) {
    endpoints.push(await outhook.createEndpoint(`/hooks/${n}`, { p_event_types, ...unhurried }))
  }
  const worker = startWorker(outhook.stack.dbUrl)
  const published = await publishAll()
  expect(published.size).toBe(eventCount)
  expect(await waitUntil(isDone, { timeoutMs: 3 * patienceMs, everyMs: 100 })).toBe(true)
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)

  const arrived = Map.groupBy(outhook.receiver.received, ({ path }) => path)
  const inAttempts = await outhook.sql<{ endpoint_id: string; ids: string[] }[]>`
    select endpoint_id, array_agg(event_id::text) as ids
    from outbox.attempt where kind = 'attempt' and outcome = 'delivered'
    group by endpoint_id`
  const attempts = new Map(inAttempts.map((row) => [row.endpoint_id, row.ids]))
  let total = 0
  for (const [n, { id, path }] of endpoints.entries()) {
    const patterns = wishes[n] ?? []
    const expected = [...published].filter(([, type]) => wants(patterns, type)).map(([id]) => id)
    const came = (arrived.get(path) ?? []).map(({ headers }) => headers['webhook-id'])
    expect([path, ...differences(expected, came)]).toEqual([path])
    expect([path, ...differences(expected, attempts.get(id) ?? [])]).toEqual([path])
    total += expected.length
  }
  expect(total).toBeGreaterThan(5 * eventCount)
  expect(outhook.receiver.received).toHaveLength(total)

  const [counts] = await outhook.sql`
    select (select count(*) from outbox.attempt)::integer as attempts,
      (select count(*) from outbox.event)::integer as events,
      (select count(*) from outbox.dead_letter)::integer as dead_letters,
      (select count(*) from outbox.unroutable)::integer as unroutable`
  expect(counts).toEqual({ attempts: total, events: eventCount, dead_letters: 0, unroutable: 0 })
  const uneven = await outhook.sql`
    select g.endpoint_id, g.in_flight, g.depth, g.next_at, l.leased, l.depth as lane_depth
    from outbox.gate g join outbox.lane l on l.gate_id = g.id
    where g.in_flight <> 0 or g.depth <> 0 or g.next_at < 'infinity' or l.leased <> 0 or l.depth <> 0`
  expect([...uneven]).toEqual([])
})
