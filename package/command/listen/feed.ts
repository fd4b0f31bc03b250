import type { Item } from '../../client/mod.ts'

/** An event of the list, without its payload. */
export type ListedEvent = Item<'listEvents'>

/**
 * Reads one page of the events of `from` and later, the newest first. `isNarrow`: only those of the type that
 * is listened to, if there is one alone. Such a page may be empty and have a next one.
 */
export type ReadPage = (
  query: { from: string; cursor?: string; limit: number; isNarrow: boolean },
) => Promise<{ data: ListedEvent[]; nextCursor: string | null }>

/** The events that were committed since the last call. */
export interface News {
  /** In the order of their publishing. */
  events: ListedEvent[]
  /** Whether there were so many that the older ones are left out. */
  isCut: boolean
  /** How many pages the API has searched in vain: each costs it as much as 41 short requests. */
  emptyPages: number
}

/** What is followed. */
export interface FeedOptions {
  /** The first call returns the events of the last so many milliseconds. */
  sinceMs: number
  now: () => number
  /** Whether a narrow page is narrower than another: one type alone is listened to. */
  hasType: boolean
  /** Whether the token may read no other pages than narrow ones. */
  isLimited: boolean
}

/**
 * How long after its publishing an event is looked for: the API lists events by the time of their publishing,
 * and a transaction may be open for long. With 30 events a second, a sweep of it takes 5 minutes, so what is
 * committed within 10 minutes is found.
 */
const overlapMs = 15 * 60_000
/** The most news of one call. */
const mostNews = 2_000
/**
 * After so many news in one call, narrow pages are read. Before, a page of all types costs less: the API need
 * not search for a type that is rare.
 */
const narrowAfter = 500
const pageSize = 100
const dayMs = 86_400_000

/**
 * Follows the events of an organisation. A call reads the list until a page has no news, and then one page of a
 * sweep over the overlap, which goes on with each call. It remembers the ids of the overlap, and goes by the
 * times of the events, so the clock of this machine may be wrong by some hours.
 */
export function followEvents(
  read: ReadPage,
  { sinceMs, now, hasType, isLimited }: FeedOptions,
): () => Promise<News> {
  /** The time of each event of the overlap that was read, in Unix milliseconds. */
  const seen = new Map<string, number>()
  let newest = -Infinity
  /** Nothing before this time is read. */
  let floor = -Infinity
  /** Where the sweep goes on; null: after the pages that have news. */
  let sweepAt: string | null = null
  let hasBegun = false
  const startedAt = now()

  async function begin(): Promise<News> {
    const since = startedAt - sinceMs
    const last = await findLast(read, since - dayMs, isLimited)
    newest = last ?? since - dayMs
    floor = Math.min(newest, since) - overlapMs
    const { events, isCut, emptyPages } = await collect()
    const wanted = sinceMs === 0 ? [] : events.filter(({ createdAt }) => at(createdAt) >= since)
    return { events: wanted, isCut: isCut && wanted.length === events.length, emptyPages }
  }

  async function collect(): Promise<News> {
    const found = new Map<string, ListedEvent>()
    let oldest = floor
    let emptyPages = 0

    /** Returns the cursor of the next page, and whether this one has news or may be followed by news. */
    async function readPage(cursor: string | null): Promise<[next: string | null, isNew: boolean]> {
      const { data, nextCursor } = await read({
        from: new Date(floor).toISOString(),
        limit: pageSize,
        isNarrow: isLimited || (hasType && found.size >= narrowAfter),
        ...cursor === null ? {} : { cursor },
      })
      const news = data.filter(({ id }) => !seen.has(id) && !found.has(id))
      for (const event of news) found.set(event.id, event)
      const last = data.at(-1)
      if (last !== undefined) oldest = at(last.createdAt)
      else if (nextCursor !== null) emptyPages += 1
      return [nextCursor, news.length > 0 || data.length === 0]
    }

    let [cursor, isNew] = await readPage(null)
    while (cursor !== null && isNew && found.size < mostNews) {
      ;[cursor, isNew] = await readPage(cursor)
    }
    const isCut = cursor !== null && found.size >= mostNews
    let nextSweep: string | null = null
    // The cursor is null if the list was read to its end.
    if (cursor !== null && !isCut) [nextSweep] = await readPage(sweepAt ?? cursor)

    // Only now: what a call has found that failed half-way is news of the next one.
    sweepAt = nextSweep
    for (const { id, createdAt } of found.values()) {
      seen.set(id, at(createdAt))
      newest = Math.max(newest, at(createdAt))
    }
    // What is left out now must not come later as news.
    if (isCut) floor = oldest
    floor = Math.max(floor, newest - overlapMs)
    for (const [id, time] of seen) if (time < floor) seen.delete(id)
    return { events: [...found.values()].sort(byId), isCut, emptyPages }
  }

  return async function next(): Promise<News> {
    const news = hasBegun ? await collect() : await begin()
    hasBegun = true
    return news
  }
}

/** The time of the newest event that is not older than `from`; null if there is none. */
async function findLast(read: ReadPage, from: number, isNarrow: boolean): Promise<number | null> {
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<ReadPage>> = await read({
      from: new Date(from).toISOString(),
      limit: 1,
      isNarrow,
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
