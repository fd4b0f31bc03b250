import { expect } from '@std/expect'
import {
  followEvents,
  type ListedEvent,
  type News,
  type ReadPage,
} from '../../../../package/command/listen/feed.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const minute = 60_000

/** The list of the API over events that a test adds, in the order of their commits. */
function createList(): {
  add(id: number, minutes: number): void
  read: ReadPage
  readonly pages: number
  refuse: boolean
} {
  const events: ListedEvent[] = []
  return {
    pages: 0,
    refuse: false,
    add(id, minutes): void {
      events.push({
        id: String(id).padStart(6, '0'),
        type: 'order.paid',
        partitionKey: null,
        correlationId: null,
        idempotencyKey: null,
        traceparent: null,
        endpointId: null,
        deliverAt: null,
        createdAt: new Date(start + minutes * minute).toISOString(),
      })
    },
    read({ from, cursor, limit }): ReturnType<ReadPage> {
      if (this.refuse) return Promise.reject(new Error('refused')) // SAFETY: only the interface is read-only.
      ;(this as { pages: number }).pages += 1
      const fit = events
        .filter(({ createdAt }) => createdAt >= from)
        .sort((left, right) => left.id < right.id ? 1 : -1)
      const rest = fit.filter(({ id }) => cursor === undefined || id < cursor)
      const data = rest.slice(0, limit)
      return Promise.resolve({
        data,
        nextCursor: rest.length > limit ? data.at(-1)?.id ?? null : null,
      })
    },
  }
}

function idsOf({ events }: { events: ListedEvent[] }): number[] {
  return events.map(({ id }) => Number(id))
}

function follow(
  list: ReturnType<typeof createList>,
  sinceMinutes = 0,
  nowMinutes = 0,
): () => Promise<News> {
  const now = (): number => start + nowMinutes * minute
  return followEvents((query) => list.read(query), { sinceMs: sinceMinutes * minute, now })
}

Deno.test('followEvents() gives each event once, in the order of publishing, and none from before', async () => {
  const list = createList()
  list.add(1, -1)
  const next = follow(list)
  expect(idsOf(await next())).toEqual([])
  list.add(3, 2)
  list.add(2, 1)
  expect(idsOf(await next())).toEqual([2, 3])
  expect(idsOf(await next())).toEqual([])
})

Deno.test('followEvents() finds an event that is committed long after its publishing', async () => {
  const list = createList()
  list.add(1, 0)
  const next = follow(list)
  await next()
  for (let id = 2_000; id < 2_150; id++) list.add(id, 8)
  await next()
  // Published before all of them, so it is on no first page.
  list.add(500, 1)
  const found: number[] = []
  for (let call = 0; call < 15; call++) found.push(...idsOf(await next()))
  expect(found).toEqual([500])
})

Deno.test('followEvents() begins with the events of the last minutes if asked', async () => {
  const list = createList()
  for (const [id, minutes] of [[1, -30], [2, -9], [3, -1]] as const) list.add(id, minutes)
  const next = follow(list, 10)
  expect(idsOf(await next())).toEqual([2, 3])
  list.add(4, 0)
  expect(idsOf(await next())).toEqual([4])
})

Deno.test('followEvents() misses nothing if the clock of this machine is hours ahead or behind', async () => {
  for (const hours of [-5, 5]) {
    const list = createList()
    list.add(1, -1)
    const next = follow(list, 0, hours * 60)
    expect(idsOf(await next())).toEqual([])
    list.add(2, 1)
    expect([hours, idsOf(await next())]).toEqual([hours, [2]])
  }
})

Deno.test('followEvents() gives what came while requests failed', async () => {
  const list = createList()
  const next = follow(list)
  expect(idsOf(await next())).toEqual([])
  list.add(1, 1)
  list.refuse = true
  await expect(next()).rejects.toThrow('refused')
  list.add(2, 300)
  list.refuse = false
  expect(idsOf(await next())).toEqual([1, 2])
})

Deno.test('followEvents() says if there are more events than it reads, and never gives those later', async () => {
  const list = createList()
  list.add(1, 0)
  const next = follow(list)
  await next()
  for (let id = 2; id < 2_500; id++) list.add(id, id / 1_000)
  const first = await next()
  expect([first.events.length, first.isCut]).toEqual([2_000, true])
  for (let call = 0; call < 16; call++) {
    expect(await next()).toEqual({ events: [], isCut: false })
  }
})

Deno.test('followEvents() needs one page while there is no news', async () => {
  const list = createList()
  for (let id = 1; id < 1_000; id++) list.add(id, 0)
  const next = follow(list)
  await next()
  const before = list.pages
  await next()
  expect(list.pages - before).toBe(1)
})
