/**
 * Thousands of deliveries to 50 endpoints, without faults, edge runs and a worker side by side: everyone gets exactly what they
 * subscribed to, once. On a machine that is too busy an attempt may fail because the receiver, the run or the
 * database is too slow. Then its event comes once more, and there is a row of each such attempt.
 */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startOuthook, type TestEndpoint, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'
import { patienceMs } from '../_support/patience.ts'
import type { Received } from '../../supabase/local/http/request.ts'

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

/**
 * The requests of an endpoint that no attempt explains. The x-attempt of a request is one more than the failed
 * attempts before it, so an event comes again only with another number, after a failed attempt.
 */
function unexplained(requests: Received[], failures: Map<string, number>): string[] {
  const seen = new Set<string>()
  const bad: string[] = []
  for (const { headers } of requests) {
    const { 'webhook-id': id = '', 'x-attempt': number = '' } = headers
    const key = `${id} x-attempt ${number}`
    if (seen.has(key) || Number(number) > (failures.get(id) ?? 0) + 1) bad.push(key)
    seen.add(key)
  }
  return bad
}

/** The classes of attempts that fail because the machine is too busy. */
const slowness = ['timeout', 'lease_expired']

/** With the default of 15 s, attempts fail on a machine with a load of 12 on 2 cores. */
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

type AttemptRow = {
  endpoint_id: string
  id: string
  outcome: string
  error_class: string | null
}

/** The delivered attempts and the others. */
function partition(rows: AttemptRow[]): [AttemptRow[], AttemptRow[]] {
  const isDelivered = ({ outcome }: AttemptRow): boolean => outcome === 'delivered'
  return [rows.filter(isDelivered), rows.filter((row) => !isDelivered(row))]
}

Deno.test('50 endpoints get each event that they want, and again only after a recorded failure', async () => {
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
  const rows = await outhook.sql<AttemptRow[]>`
    select a.endpoint_id, a.event_id::text as id, a.outcome, a.error_class
    from outbox.attempt a join outbox.event e on e.id = a.event_id
    where e.type not like 'outhook.%'`
  const attempts = Map.groupBy(rows, ({ endpoint_id }) => endpoint_id)
  let total = 0
  for (const [n, { id, path }] of endpoints.entries()) {
    const patterns = wishes[n] ?? []
    const expected = [...published].filter(([, type]) => wants(patterns, type)).map(([id]) => id)
    const requests = arrived.get(path) ?? []
    const [delivered, failed] = partition(attempts.get(id) ?? [])
    const failures = new Map(
      [...Map.groupBy(failed, (row) => row.id)].map(([event, all]) => [event, all.length]),
    )
    const came = new Set(requests.map(({ headers }) => headers['webhook-id']))
    expect([path, ...differences(expected, [...came])]).toEqual([path])
    expect([path, ...unexplained(requests, failures)]).toEqual([path])
    expect([path, ...differences(expected, delivered.map((row) => row.id))]).toEqual([path])
    total += expected.length
  }
  expect(total).toBeGreaterThan(5 * eventCount)
  const failed = rows.filter(({ outcome }) => outcome !== 'delivered')
  expect(failed.filter(({ error_class }) => !slowness.includes(error_class ?? ''))).toEqual([])
  expect(rows).toHaveLength(total + failed.length)
  expect(outhook.receiver.received.length).toBeGreaterThanOrEqual(total)
  expect(outhook.receiver.received.length).toBeLessThanOrEqual(total + failed.length)

  const [counts] = await outhook.sql`
    select (select count(*) from outbox.event where type not like 'outhook.%')::integer as events,
      (select count(*) from outbox.dead_letter)::integer as dead_letters,
      (select count(*) from outbox.unroutable)::integer as unroutable`
  expect(counts).toEqual({ events: eventCount, dead_letters: 0, unroutable: 0 })
  const uneven = await outhook.sql`
    select g.endpoint_id, g.in_flight, g.depth, g.next_at, l.leased, l.depth as lane_depth
    from outbox.gate g join outbox.lane l on l.gate_id = g.id
    where g.in_flight <> 0 or g.depth <> 0 or g.next_at < 'infinity' or l.leased <> 0 or l.depth <> 0`
  expect([...uneven]).toEqual([])
})
