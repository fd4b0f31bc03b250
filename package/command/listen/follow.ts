import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, type Client, ConnectionError } from '../../client/mod.ts'
import { followEvents, type ListedEvent } from './feed.ts'
import { forward, type Forwarded, type ForwardOptions } from './forward.ts'
import type { FullEvent, Payloads } from './payloads.ts'
import type { Report } from './report.ts'
import { isSelected, onlyType } from './types.ts'

/** What handling an event needs. */
export interface Session {
  client: Client
  payloads: Payloads
  report: Report
  /** Null: events are only shown. */
  to: ForwardOptions | null
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
/** How many payloads are read at once. */
const atOnce = 10

/** Handles each event that is published from now on, until there are `count`. */
export async function follow(
  session: Session,
  { type: types, since, count = Infinity }: Wanted,
  ready: () => void,
): Promise<void> {
  const { client, report } = session
  const type = onlyType(types)
  const next = followEvents(
    ({ from, cursor, limit }) => {
      const query = {
        from,
        limit,
        ...cursor === undefined ? {} : { cursor },
        ...type === null ? {} : { type },
      }
      return client.listEvents({ query })
    },
    { sinceMs: since * 60_000, now: Date.now },
  )
  let left = count
  let later: ListedEvent[] = []
  // An error of the first request ends the command: the URL or the key may be wrong.
  let news = await next()
  ready()
  for (;;) {
    if (news.isCut) report.gap()
    const found = news.events.filter((event) => isFor(event, types))
    const isDue = ({ deliverAt }: ListedEvent): boolean =>
      deliverAt === null || Date.parse(deliverAt) <= Date.now()
    for (const { id, type, deliverAt } of found.filter((one) => !isDue(one))) {
      report.later(id, type, deliverAt ?? '')
    }
    const due = [...later.filter(isDue), ...found.filter(isDue)].slice(0, left)
    later = [...later, ...found].filter((one) => !isDue(one))
    left -= await handleAll(session, due)
    if (left <= 0) return
    await wait(intervalMs)
    news = await untilUp(report, next)
  }
}

/** Whether a new endpoint with these subscriptions would get the event. */
function isFor({ type, endpointId }: ListedEvent, patterns: readonly string[]): boolean {
  return endpointId === null && isSelected(type, patterns)
}

/** Handles events one after the other, so that they arrive in order. Returns their number. */
async function handleAll(session: Session, events: readonly ListedEvent[]): Promise<number> {
  const { client, payloads, report } = session
  let handled = 0
  for (let at = 0; at < events.length; at += atOnce) {
    const part = await Promise.all(
      events.slice(at, at + atOnce).map(({ id }) =>
        untilUp(report, () => payloads.read(client, id)).catch(goneAsNull)
      ),
    )
    for (const event of part) {
      if (event === null) continue
      await handle(session, event)
      handled += 1
    }
  }
  return handled
}

/** Sends and shows an event. Returns whether the receiver has accepted it. */
export async function handle({ report, to }: Session, event: FullEvent): Promise<boolean> {
  if (to === null) {
    report.event(event, null)
    return true
  }
  let sent: Forwarded
  for (let pause = intervalMs;; pause = Math.min(pause * 2, longestPauseMs)) {
    sent = await forward(event, to)
    if (sent.kind !== 'unreachable') break
    report.down('receiver', sent.error)
    await wait(pause)
  }
  report.up('receiver')
  report.event(event, sent)
  return sent.kind === 'response' && sent.status >= 200 && sent.status < 300
}

/** Repeats a request until the API responds. A refusal that no repeat changes is thrown. */
async function untilUp<Result>(report: Report, act: () => Promise<Result>): Promise<Result> {
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
      await wait(pause)
    }
  }
}

/** An event may be deleted between the list and the request. */
function goneAsNull(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null
  throw error
}
