/** What the model knows of a sequence: a plain restatement of the rules, without gates, lanes or indexes. */

import {
  countsAsFailure,
  hint,
  isAnswer,
  isFailedRequest,
  isFinal,
  isHold,
  isLost,
  saysSomething,
} from './meaning.ts'
import type { EndpointSpec } from './script.ts'
import type { Result } from './trace.ts'

export const SECOND = 1_000_000
export const DAY = 86_400 * SECOND
const OPEN_FOR = 30 * SECOND
/** As begin_world() sets delivery.max_lost_leases. */
const MOST_LOST = 3

export interface Endpoint {
  id: string
  spec: EndpointSpec
  status: 'enabled' | 'paused' | 'disabled' | 'deleted'
  deletedAt: number | null
  /** Events that were published after it was deleted. */
  deletedBefore: Set<string>
  breaker: 'closed' | 'open' | 'half_open'
  streak: number
  firstFailure: number | null
  /** When it was last resumed. */
  resumedAt: number
  openUntil: number
  probe: { pair: Pair; attempt: number } | null
  /** The receiver asked for quiet until then. */
  notBefore: number
  timedOut: boolean
  tokens: number
  tokensAt: number
}

export interface Event {
  id: string
  org: string
  type: string
  key: string | null
  endpoint: string | null
  deliverAt: number
  at: number
}

/** A delivery through all of its lives. */
export interface Pair {
  name: string
  event: Event
  endpoint: Endpoint
  open: boolean
  attempt: number
  failed_attempts: number
  /** Lost leases in a row. */
  lost: number
  /** Lost leases before its last failure. */
  lostBefore: number
  /** Failures that held the endpoint: they spend a try and never end a delivery. */
  holds: number
  lease: { until: number } | null
  due: number
  /** The lane whose order it keeps; null: none. */
  lane: Lane | null
  replayedAt: number
  ended: string | null
  /** Some run has delivered it, whether or not that result counted. */
  sent: boolean
}

export interface Lane {
  halted: boolean
  /** In the order of routing. */
  queue: Pair[]
}

export class Model {
  readonly endpoints = new Map<string, Endpoint>()
  readonly events = new Map<string, Event>()
  readonly pairs = new Map<string, Pair>()
  readonly lanes = new Map<string, Lane>()
  readonly unrouted = new Set<string>()
  readonly keys = new Map<string, { id: string; content: string; at: number }>()
  readonly jobs: { endpoint: string; at: number }[] = []
  /** What a run sends alone. */
  readonly alone = new Map<number, { pair: Pair; attempt: number }>()
  working = true
  cutBatches = false
  /** History may be gone. */
  cleaned = false
  now = 0
  /** What this step must have written: attempts and operational events. */
  attempts: string[] = []
  news: string[] = []
  problems: string[] = []

  constructor(specs: readonly EndpointSpec[]) {
    specs.forEach((spec, n) => {
      const id = `00000000-0000-4000-8000-00000000000${n}`
      this.endpoints.set(id, {
        id,
        spec,
        status: 'enabled',
        deletedAt: null,
        deletedBefore: new Set(),
        breaker: 'closed',
        streak: 0,
        firstFailure: null,
        resumedAt: 0,
        openUntil: 0,
        probe: null,
        notBefore: 0,
        timedOut: false,
        tokens: 2,
        tokensAt: 0,
      })
    })
  }

  /** Notes that something is not as it must be, unless `holds`. */
  expect(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem)
  }

  addEvent(event: Event): void {
    this.events.set(event.id, event)
    this.unrouted.add(event.id)
    for (const endpoint of this.endpoints.values()) {
      if (endpoint.status === 'deleted') endpoint.deletedBefore.add(event.id)
    }
  }

  pair(event: string, endpoint: string): Pair | undefined {
    return this.pairs.get(`${event} ${endpoint}`)
  }

  openOf(endpoint: Endpoint): Pair[] {
    return [...this.pairs.values()].filter((pair) => pair.open && pair.endpoint === endpoint)
  }

  /** Requests under way: an ordered lane is one. */
  inFlight(endpoint: Endpoint): number {
    const leased = this.openOf(endpoint).filter((pair) => pair.lease !== null)
    return new Set(leased.map((pair) => pair.lane ?? pair)).size
  }

  laneOf(endpoint: Endpoint, key: string | null): Lane | null {
    if (endpoint.spec.ordering === 'none') return null
    const name = `${endpoint.id} ${endpoint.spec.ordering === 'partition' ? key : ''}`
    const lane = this.lanes.get(name) ?? { halted: false, queue: [] }
    this.lanes.set(name, lane)
    return lane
  }

  /** Records what results mean, as one batch; those without a lease mean nothing. Returns how many counted. */
  apply(results: readonly Result[]): number {
    const valid: { result: Result; pair: Pair; isProbe: boolean }[] = []
    for (const result of results) {
      const pair = this.pair(result.event, result.endpoint)
      if (pair === undefined) continue
      if (result.outcome === 'delivered') pair.sent = true
      if (!pair.open || pair.lease === null || pair.attempt !== result.attempt) continue
      if (valid.some((other) => other.pair === pair)) continue
      const { probe } = pair.endpoint
      valid.push({ result, pair, isProbe: probe?.pair === pair && probe.attempt === pair.attempt })
    }
    for (const endpoint of new Set(valid.map(({ pair }) => pair.endpoint))) {
      const own = valid.filter(({ pair }) => pair.endpoint === endpoint)
      this.#applyToBreaker(endpoint, own)
    }
    for (const { result, pair } of valid) this.#applyToPair(result, pair)
    for (const endpoint of new Set(valid.map(({ pair }) => pair.endpoint))) {
      const gone = valid.some(({ pair, result }) => pair.endpoint === endpoint && isHold(result))
      const failing =
        Math.max(endpoint.firstFailure ?? Infinity, endpoint.resumedAt) < this.now - 5 * DAY
      if ((gone || failing) && endpoint.status === 'enabled') {
        endpoint.status = 'disabled'
        this.announce('outhook.endpoint.disabled', endpoint.spec.org)
      }
    }
    return valid.length
  }

  announce(type: string, org: string): void {
    if (org !== 'outhook') this.news.push(type)
  }

  #applyToPair(result: Result, pair: Pair): void {
    pair.lease = null
    if (result.outcome === 'released') return
    if (result.outcome === 'delivered') {
      const earlier = pair.lane?.queue.slice(0, pair.lane.queue.indexOf(pair)) ?? []
      this.expect(
        earlier.every((other) => !other.open || other.lane !== pair.lane || other.sent),
        `${pair.name} was delivered before what comes before it`,
      )
      this.close(pair, 'attempt', 'delivered')
      return
    }
    const dead = isLost(result) ? this.#loseLease(pair) : this.#fail(result, pair)
    this.attempts.push(`${pair.name} ${pair.attempt} attempt failed ${dead ? null : pair.due}`)
    if (dead) this.close(pair, 'close', 'dead_letter')
  }

  /** A lost lease spends no retry. Returns whether it was the last that a delivery may lose. */
  #loseLease(pair: Pair): boolean {
    pair.lost += 1
    pair.due = this.now + SECOND
    return pair.lost >= MOST_LOST
  }

  /** Spends a retry. Returns whether there was none left. */
  #fail(result: Result, pair: Pair): boolean {
    const { maxRetries, delays } = pair.endpoint.spec
    const hold = isHold(result)
    const dead = !hold && (isFinal(result) || pair.failed_attempts >= maxRetries)
    pair.failed_attempts += 1
    pair.lostBefore += pair.lost
    pair.lost = 0
    if (hold) pair.holds += 1
    const delay = (delays[Math.min(pair.failed_attempts, delays.length) - 1] ?? 0) * SECOND
    pair.due = this.now + Math.max(delay, hint(result) ?? 0)
    return dead
  }

  /** Whether losing its lease now would end a delivery. */
  diesIfLost(pair: Pair): boolean {
    return pair.lost + 1 >= MOST_LOST
  }

  /** Ends a life of a delivery with its final row. */
  close(pair: Pair, kind: 'attempt' | 'close', outcome: string): void {
    pair.open = false
    pair.lease = null
    pair.ended = outcome
    const failures = outcome === 'dead_letter' || outcome === 'expired'
      ? ` ${pair.failed_attempts}`
      : ''
    this.attempts.push(`${pair.name} ${pair.attempt} ${kind} ${outcome}${failures}`)
    if (failures === '') return
    this.announce('outhook.delivery.dead_lettered', pair.event.org)
    if (
      pair.lane !== null && pair.endpoint.spec.onDeadLetter === 'halt' && outcome === 'dead_letter'
    ) {
      pair.lane.halted = true
    }
  }

  #applyToBreaker(endpoint: Endpoint, batch: { result: Result; isProbe: boolean }[]): void {
    const { spec: { threshold, org }, breaker: was } = endpoint
    const lastAnswer = batch.findLastIndex(({ result }) => isAnswer(result))
    const failures =
      batch.slice(lastAnswer + 1).filter(({ result }) => countsAsFailure(result)).length
    const probe = batch.find(({ isProbe }) => isProbe)?.result
    const closed = probe !== undefined && isAnswer(probe)
    const total = failures + (lastAnswer >= 0 ? 0 : endpoint.streak)
    if (was !== 'closed' && !closed) {
      endpoint.streak += probe !== undefined && countsAsFailure(probe) ? 1 : 0
    } else endpoint.streak = total
    if (closed) {
      endpoint.breaker = 'closed'
      this.announce('outhook.breaker.closed', org)
    } else if (probe !== undefined) {
      endpoint.breaker = 'open'
      endpoint.openUntil = this.now + (countsAsFailure(probe) ? OPEN_FOR : 0)
    } else if (was === 'closed' && threshold !== null && total >= threshold) {
      endpoint.breaker = 'open'
      endpoint.openUntil = this.now + OPEN_FOR
      this.announce('outhook.breaker.opened', org)
    }
    if (endpoint.breaker !== 'half_open') endpoint.probe = null
    if (batch.some(({ result }) => result.outcome === 'delivered')) endpoint.firstFailure = null
    else if (batch.some(({ result }) => isFailedRequest(result))) endpoint.firstFailure ??= this.now
    for (const { result } of batch) {
      if (saysSomething(result)) endpoint.timedOut = result.error_class === 'timeout'
      endpoint.notBefore = Math.max(endpoint.notBefore, this.now + (hint(result) ?? -Infinity))
    }
  }
}
