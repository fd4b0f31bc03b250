import { setTimeout } from 'node:timers/promises'
import { ApiError, type Client, ConnectionError } from '../../client/mod.ts'
import { followEvents, type ListedEvent, type ReadPage } from './feed.ts'
import { forward, type Forwarded, type ForwardOptions } from './forward.ts'
import type { FullEvent, Payloads } from './payloads.ts'
import type { Report } from './report.ts'
import { isSelected, onlyType } from './types.ts'

/** The time of this machine, which tests replace. */
export interface Timing {
  /** Unix milliseconds. */
  now(): number
  wait(ms: number): Promise<unknown>
}

export const ownTiming: Timing = { now: Date.now, wait: (ms) => setTimeout(ms) }

/** What handling an event needs. */
export interface Session {
  client: Client
  payloads: Payloads
  report: Report
  /** Null: events are only shown. */
  to: ForwardOptions | null
  timing: Timing
}

/** Which events are handled. */
export interface Wanted {
  type: readonly string[]
  /** How many minutes before now the first event may be published. */
  since: number
  count?: number
}

/** How often the list of events is read, and the longest pause while something does not respond. */
const intervalMs = 1_000
const longestPauseMs = 10_000
/**
 * How many payloads are read at once, and how often. Each is a request, and the publishers of the organisation
 * share its limit.
 */
const atOnce = 10
const paceMs = 500
/** The pause for each page that the API has searched in vain. */
const emptyPageMs = 10_000

/** Handles each event that is published from now on, until there are `count`. */
export async function follow(
  session: Session,
  { type: types, since, count = Infinity }: Wanted,
  ready: () => void,
): Promise<void> {
  const { client, report, timing } = session
  const type = onlyType(types)
  const read: ReadPage = ({ from, cursor, limit, isNarrow }) => {
    const query = {
      from,
      limit,
      ...cursor === undefined ? {} : { cursor },
      ...type === null || !isNarrow ? {} : { type },
    }
    return client.listEvents({ query })
  }
  // An error of the first requests ends the command: the URL or the key may be wrong.
  const isLimited = type !== null && await mayReadOnly(client, type)
  const options = { sinceMs: since * 60_000, now: timing.now, hasType: type !== null, isLimited }
  const next = followEvents(read, options)
  let left = count
  let later: ListedEvent[] = []
  let news = await next()
  ready()
  for (;;) {
    if (news.isCut) report.gap()
    const found = news.events.filter((event) => isFor(event, types))
    const now = timing.now()
    const isDue = ({ deliverAt }: ListedEvent): boolean =>
      deliverAt === null || Date.parse(deliverAt) <= now
    for (const { id, type, deliverAt } of found.filter((one) => !isDue(one))) {
      report.later(id, type, deliverAt ?? '')
    }
    const due = [...later.filter(isDue), ...found.filter(isDue)]
    later = [...later, ...found].filter((one) => !isDue(one))
    left -= await handleAll(session, due, left)
    if (left <= 0) return
    await timing.wait(intervalMs + news.emptyPages * emptyPageMs)
    news = await untilUp(session, next)
  }
}

/** Whether the token is limited to event types, so that it cannot list all events. */
async function mayReadOnly(client: Client, type: string): Promise<boolean> {
  try {
    await client.listEvents({ query: { limit: 1 } })
    return false
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    await client.listEvents({ query: { limit: 1, type } })
    return true
  }
}

/** Whether a new endpoint with these subscriptions would get the event. */
function isFor({ type, endpointId }: ListedEvent, patterns: readonly string[]): boolean {
  return endpointId === null && isSelected(type, patterns)
}

/** Handles at most `most` events one after the other, so that they arrive in order. Returns their number. */
async function handleAll(
  session: Session,
  events: readonly ListedEvent[],
  most: number,
): Promise<number> {
  const { client, payloads, timing } = session
  let handled = 0
  for (let at = 0; at < events.length && handled < most;) {
    const startedAt = timing.now()
    const ids = events.slice(at, at + Math.min(atOnce, most - handled)).map(({ id }) => id)
    at += ids.length
    const part = await Promise.all(
      ids.map((id) => untilUp(session, () => payloads.read(client, id)).catch(goneAsNull)),
    )
    for (const event of part) {
      if (event === null) continue
      await handle(session, event)
      handled += 1
    }
    const early = startedAt + paceMs - timing.now()
    if (at < events.length && handled < most && early > 0) await timing.wait(early)
  }
  return handled
}

/** Sends an event as soon as somebody listens, and shows it. */
async function handle(session: Session, event: FullEvent): Promise<void> {
  const { report, timing, to } = session
  if (to === null) return report.event(event, null)
  let sent: Forwarded
  for (let pause = intervalMs;; pause = Math.min(pause * 2, longestPauseMs)) {
    sent = await forward(event, to)
    if (sent.kind !== 'unreachable') break
    report.down('receiver', sent.error)
    await timing.wait(pause)
  }
  report.up('receiver')
  report.event(event, sent)
}

/** Sends an event once and shows it. Returns whether the receiver has accepted it. */
export async function handleOnce({ report, to }: Session, event: FullEvent): Promise<boolean> {
  const sent = to === null ? null : await forward(event, to)
  report.event(event, sent)
  return sent === null || (sent.kind === 'response' && sent.status >= 200 && sent.status < 300)
}

/** Repeats a request until the API responds. A refusal that no repeat changes is thrown. */
async function untilUp<Result>(
  { report, timing }: Session,
  act: () => Promise<Result>,
): Promise<Result> {
  for (let pause = intervalMs;; pause = Math.min(pause * 2, longestPauseMs)) {
    try {
      const result = await act()
      report.up('api')
      return result
    } catch (error) {
      const mayPass = error instanceof ConnectionError ||
        (error instanceof ApiError && (error.status === 429 || error.status >= 500))
      if (!mayPass) throw error
      report.down('api', error.message)
      await timing.wait(pause)
    }
  }
}

/** An event may be deleted between the list and the request. */
function goneAsNull(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null
  throw error
}
