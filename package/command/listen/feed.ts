import type { Item } from '../../client/mod.ts'

/** An event of the list, without its payload. */
export type ListedEvent = Item<'listEvents'>

/** Reads one page of the events of `from` and later, the newest first. */
export type ReadPage = (query: { from: string; cursor?: string; limit: number }) => Promise<
  { data: ListedEvent[]; nextCursor: string | null }
>

/** The events that were committed since the last call. */
export interface News {
  /** In the order of their publishing. */
  events: ListedEvent[]
  /** Whether there were so many that the older ones are left out. */
  isCut: boolean
}

/**
 * How long after its publishing an event may be committed and still be found: the API lists events by the
 * time of their publishing, and a transaction may be open for long.
 */
const overlapMs = 10 * 60_000
/** Every so many calls read the whole overlap. The others end at the first page that has no news. */
const wholeEvery = 15
/** The most events that one call reads. */
const mostRead = 2_000
const pageSize = 100
const dayMs = 86_400_000

/**
 * Follows the events of an organisation. The first call returns those that were published in the last
 * `sinceMs`. It remembers the ids of the overlap, and goes by the times of the events, so the clock of this
 * machine may be wrong by some hours.
 */
export function followEvents(
  read: ReadPage,
  { sinceMs, now }: { sinceMs: number; now: () => number },
): () => Promise<News> {
  /** The time of each event of the overlap that was read, in Unix milliseconds. */
  const seen = new Map<string, number>()
  let newest: number | null = null
  /** Nothing before this time is read. */
  let floor = -Infinity
  let calls = 0
  const startedAt = now()

  async function begin(): Promise<News> {
    const since = startedAt - sinceMs
    const last = await findLast(read, since - dayMs)
    newest = last === null ? since - dayMs : last
    floor = (last === null ? since - dayMs : Math.min(last, since)) - overlapMs
    const { events, isCut } = await collect(true)
    const wanted = sinceMs === 0 ? [] : events.filter(({ createdAt }) => at(createdAt) >= since)
    return { events: wanted, isCut: isCut && wanted.length === events.length }
  }

  async function collect(isWhole: boolean): Promise<News> {
    const found: ListedEvent[] = []
    let count = 0
    let oldest = floor
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<ReadPage>> = await read({
        from: new Date(floor).toISOString(),
        limit: pageSize,
        ...cursor === null ? {} : { cursor },
      })
      const news = page.data.filter(({ id }) => !seen.has(id))
      found.push(...news)
      count += page.data.length
      const last = page.data.at(-1)
      if (last !== undefined) oldest = at(last.createdAt)
      cursor = page.nextCursor
      if (!isWhole && page.data.length > 0 && news.length === 0) break
      if (count >= mostRead) break
    } while (cursor !== null)
    const isCut = count >= mostRead && cursor !== null
    for (const { id, createdAt } of found) seen.set(id, at(createdAt))
    newest = Math.max(newest ?? -Infinity, ...found.map(({ createdAt }) => at(createdAt)))
    // What is left out now must not come later as news.
    if (isCut) floor = oldest
    forget()
    return { events: found.sort(byId), isCut }
  }

  function forget(): void {
    floor = Math.max(floor, (newest ?? floor) - overlapMs)
    for (const [id, time] of seen) if (time < floor) seen.delete(id)
  }

  return async function next(): Promise<News> {
    const news = calls === 0 ? await begin() : await collect(calls % wholeEvery === 0)
    calls += 1
    return news
  }
}

/** The time of the newest event that is not older than `from`; null if there is none. */
async function findLast(read: ReadPage, from: number): Promise<number | null> {
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<ReadPage>> = await read({
      from: new Date(from).toISOString(),
      limit: 1,
      ...cursor === null ? {} : { cursor },
    })
    const [first] = page.data
    if (first !== undefined) return at(first.createdAt)
    cursor = page.nextCursor
  } while (cursor !== null)
  return null
}

function at(time: string): number {
  return Date.parse(time)
}

function byId(left: ListedEvent, right: ListedEvent): number {
  return left.id < right.id ? -1 : 1
}
