import { expect } from '@std/expect'
import {
  followEvents,
  type ListedEvent,
  type News,
  type ReadPage,
} from '../../../../package/command/listen/feed.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const minute = 60_000

/** How many events the API of this test reads for a page. */
const mostSearched = 200

interface List {
  add(id: number, minutes: number, type?: string): void
  read: ReadPage
  pages: number
  /** Rows that were read for pages. */
  rows: number
  refuse: boolean
}

/** The list of the API over events that a test adds, in the order of their commits. Narrow: order.rare. */
function createList(): List {
  const events: ListedEvent[] = []
  return {
    pages: 0,
    rows: 0,
    refuse: false,
    add(id, minutes, type = 'order.paid'): void {
      events.push({
        id: String(id).padStart(6, '0'),
        type,
        partitionKey: null,
        correlationId: null,
        idempotencyKey: null,
        traceparent: null,
        endpointId: null,
        deliverAt: null,
        createdAt: new Date(start + minutes * minute).toISOString(),
      })
    },
    read({ from, cursor, limit, isNarrow }): ReturnType<ReadPage> {
      if (this.refuse) return Promise.reject(new Error('refused'))
      this.pages += 1
      const fit = events
        .filter(({ createdAt }) => createdAt >= from)
        .sort((left, right) => left.id < right.id ? 1 : -1)
      const rest = fit.filter(({ id }) => cursor === undefined || id < cursor)
      const data: ListedEvent[] = []
      let searched = 0
      for (const event of rest) {
        if (searched === mostSearched || data.length === limit) break
        searched += 1
        if (!isNarrow || event.type === 'order.rare') data.push(event)
      }
      this.rows += searched
      const nextCursor = rest.length > searched ? rest[searched - 1]?.id ?? null : null
      return Promise.resolve({ data, nextCursor })
    },
  }
}

function idsOf({ events }: { events: ListedEvent[] }): number[] {
  return events.map(({ id }) => Number(id))
}

function follow(
  list: List,
  { since = 0, now: at = 0, hasType = false, isLimited = false } = {},
): () => Promise<News> {
  const now = (): number => start + at * minute
  const options = { sinceMs: since * minute, now, hasType, isLimited }
  return followEvents((query) => list.read(query), options)
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
  for (let call = 0; call < 3; call++) found.push(...idsOf(await next()))
  expect(found).toEqual([500])
})

Deno.test('followEvents() begins with the events of the last minutes if asked', async () => {
  const list = createList()
  for (const [id, minutes] of [[1, -30], [2, -9], [3, -1]] as const) list.add(id, minutes)
  const next = follow(list, { since: 10 })
  expect(idsOf(await next())).toEqual([2, 3])
  list.add(4, 0)
  expect(idsOf(await next())).toEqual([4])
})

Deno.test('followEvents() misses nothing if the clock of this machine is hours ahead or behind', async () => {
  for (const hours of [-5, 5]) {
    const list = createList()
    list.add(1, -1)
    const next = follow(list, { now: hours * 60 })
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
    expect(await next()).toEqual({ events: [], isCut: false, emptyPages: 0 })
  }
  list.add(2_600, 3)
  expect(await next()).toMatchObject({ events: [{ id: '002600' }], isCut: false })
})

Deno.test('followEvents() needs two pages while there is no news', async () => {
  const list = createList()
  for (let id = 1; id < 1_000; id++) list.add(id, 0)
  const next = follow(list)
  await next()
  const before = list.pages
  for (let call = 0; call < 30; call++) await next()
  expect(list.pages - before).toBeLessThanOrEqual(60)
})

Deno.test('followEvents() says nothing of left out events on a busy project, and keeps its overlap', async () => {
  const list = createList()
  // 10 events a second for 12 minutes, of which more are known than one call may find.
  const perSecond = 10
  const next = follow(list)
  await next()
  let id = 10_000
  let given = 0
  const cuts: number[] = []
  for (let second = 0; second < 720; second++) {
    for (let n = 0; n < perSecond; n++) list.add(id++, second / 60)
    const news = await next()
    given += news.events.length
    if (news.isCut) cuts.push(second)
  }
  expect([given, cuts]).toEqual([720 * perSecond, []])
  // Published ten minutes ago and committed now, between two of those.
  list.add(1, 2)
  const found: number[] = []
  for (let call = 0; call < 100; call++) found.push(...idsOf(await next()))
  expect(found).toEqual([1])
})

Deno.test('followEvents() does not search for a rare type with each call', async () => {
  const list = createList()
  for (let id = 1; id < 5_000; id++) list.add(id, -600 + id / 10)
  const next = follow(list, { hasType: true })
  await next()
  const before = list.rows
  for (let call = 0; call < 10; call++) {
    list.add(6_000 + call, 1)
    expect((await next()).emptyPages).toBe(0)
  }
  expect(list.rows - before).toBeLessThanOrEqual(10 * 200)
  list.add(7_000, 1, 'order.rare')
  expect(idsOf(await next())).toEqual([7_000])
})

Deno.test('followEvents() finds the one type also behind many others that came meanwhile', async () => {
  const list = createList()
  list.add(1, 0)
  const next = follow(list, { hasType: true })
  await next()
  list.add(2, 1, 'order.rare')
  for (let id = 3; id < 6_000; id++) list.add(id, 2)
  const { events, isCut } = await next()
  expect([events.some(({ type }) => type === 'order.rare'), isCut]).toEqual([true, false])
})

Deno.test('followEvents() says how many pages it has searched in vain for a token of one type', async () => {
  const list = createList()
  for (let id = 1; id < 1_000; id++) list.add(id, 0)
  const next = follow(list, { hasType: true, isLimited: true })
  expect((await next()).emptyPages).toBe(4)
  list.add(2_000, 1, 'order.rare')
  expect(idsOf(await next())).toEqual([2_000])
})

Deno.test('followEvents() gives again what a call had found before it failed', async () => {
  const list = createList()
  list.add(1, 0)
  const next = follow(list)
  await next()
  for (let id = 2; id < 400; id++) list.add(id, 1)
  const { read } = list
  let reads = 0
  list.read = (query): ReturnType<ReadPage> => {
    reads += 1
    return reads === 3 ? Promise.reject(new Error('refused')) : read.call(list, query)
  }
  await expect(next()).rejects.toThrow('refused')
  expect((await next()).events.length).toBe(398)
})
