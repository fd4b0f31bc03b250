import type {
  ClaimKey,
  Delivery,
  DispatchCall,
  DispatchResponse,
  Endpoint,
  Renewal,
  Renewed,
  Result,
  Settings,
} from '../../../functions/_shared/contract/contract.ts'
import {
  type Database,
  type DispatchReply,
  refused,
} from '../../../functions/_shared/database/dispatch.ts'
import type { FaultKind } from '../../../functions/_shared/database/fault.ts'
import type { ContractRefusal } from '../../../functions/_shared/contract/range.ts'
import { type Clock, sleep } from '../../../functions/_shared/base/clock.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../samples.ts'

type Lease = { delivery: Delivery; until: number; batch: string }

/** How the next calls go wrong: the call does not arrive, its answer is lost, or the database refuses it. */
export type Trouble =
  | 'unreached'
  | 'lost'
  | 'refused'
  | 'read_only'
  | 'timeout'
  | 'partial'
  | 'other_contract'
  | 'unreadable'
  | 'deadlock'

/** The refusal of `other_contract`. */
export const otherContract: ContractRefusal = {
  update: 'functions',
  message: 'Update the functions',
}

export type FakeDatabase = Database & {
  /** Puts deliveries into the queue. */
  add(...deliveries: Partial<Delivery>[]): void
  /** Every call with the time at which it was made. */
  calls: (DispatchCall & { at: number })[]
  /** Results taken, in order. */
  applied: Result[]
  stale: Result[]
  troubles: Trouble[]
  /** Whether each call is refused for its contract, which still records its results. */
  refusesAll: boolean
  /** The clock of the database, in ms since 1970; null: it does not tell it. */
  nowMs: (() => number) | null
  /** A call with such a result is refused. */
  isRejected: ((result: Result | Renewal) => boolean) | null
  /** How it is refused. */
  rejection: 'partial' | 'deadlock'
  /** A call with more results takes too long. */
  mostResults: number
  latencyMs: number
  /** The most deliveries of a claim, which says then that there are more. */
  mostClaimed: number
  stop: string | null
  problem: string | null
  /** The lease that a renewal gives; null: none. */
  renewMs: number | null
  /** The organisation of an event. */
  orgOf: (event: string) => string
  settings: Partial<Settings>
  endpoint: Partial<Endpoint>
  readonly leased: number
  readonly waiting: number
}

/**
 * `outbox.dispatch` in memory, as far as a run can tell: leases, repeats, fencing. It throws where a run breaks the contract:
 * a seq that is forgotten, a repeat with other results, a call after `ended` without it, a result for what was never claimed.
 */
export function createFakeDatabase(clock: Clock): FakeDatabase {
  const queue: Delivery[] = []
  const leases = new Map<string, Lease>()
  const batches = new Map<string, string>()
  const claimed = new Set<string>()
  let lastSeq = 0
  let hasEnded = false
  let added = 0

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    db.calls.push({ ...structuredClone(call), at: clock.now() })
    if (db.latencyMs > 0) await sleep(clock, db.latencyMs)
    const trouble = db.troubles.shift()
    if (trouble === 'other_contract' || db.refusesAll) {
      call.results.forEach(apply)
      return refused(otherContract, 'contract', undefined)
    }
    if (trouble !== undefined && trouble !== 'lost' && trouble !== 'unreadable') {
      return faults[trouble]
    }
    const bad = db.isRejected
    if (bad !== null && call.results.some((result) => bad(result))) return faults[db.rejection]
    if (call.results.length > db.mostResults) return faults.timeout
    const answer = handle(call)
    if (trouble === 'unreadable') {
      const claimed = answer.deliveries.map(({ event, endpoint, attempt }) => ({
        event,
        endpoint,
        attempt,
      }))
      return {
        ok: false,
        fault: {
          kind: 'permanent',
          code: 'unreadable',
          message: 'unreadable',
          cause: null,
          claimed,
        },
      }
    }
    return trouble === 'lost' ? faults.unreached : { ok: true, response: answer }
  }

  function handle(call: DispatchCall): DispatchResponse {
    const batch = `${call.run} ${call.seq}`
    // What a run knows may have grown meanwhile, and a repeat says that it is one.
    const asked = JSON.stringify({ ...call, known: null, repeat: undefined })
    const before = batches.get(batch)
    if (before !== undefined) {
      if (before !== asked) throw new Error(`the repeat of seq ${call.seq} differs`)
      return answerOf(leasedBy(batch), 0, call.known)
    }
    if (call.seq < lastSeq - 7) throw new Error(`seq ${call.seq} comes after ${lastSeq}`)
    if (hasEnded && !call.ended) throw new Error('the run goes on after its end')
    if (call.limit < 0) throw new Error('a negative limit')
    lastSeq = Math.max(lastSeq, call.seq)
    hasEnded = call.ended
    batches.set(batch, asked)
    const staleBefore = db.stale.length
    const renewed = call.results.flatMap(apply)
    const deliveries = db.stop === null ? queue.splice(0, Math.min(call.limit, db.mostClaimed)) : []
    for (const delivery of deliveries) {
      const until = clock.now() + delivery.lease_ms
      leases.set(keyOf(delivery), { delivery, until, batch })
      claimed.add(keyOf(delivery))
    }
    const answer = answerOf(deliveries, db.stale.length - staleBefore, call.known)
    return renewed.length > 0 ? { ...answer, renewed } : answer
  }

  /** Returns the lease that it renews, if it does. */
  function apply(result: Result | Renewal): Renewed[] {
    const key = keyOf(result)
    if (!claimed.has(key)) throw new Error('a result for what was never claimed')
    const lease = leases.get(key)
    const stands = lease !== undefined && lease.until >= clock.now()
    if (result.outcome === 'renew') {
      if (!stands || db.renewMs === null) return []
      for (const other of leases.values()) {
        if (other.delivery.lane === lease.delivery.lane) other.until = clock.now() + db.renewMs
      }
      const { event, endpoint, attempt } = result
      return [{ event, endpoint, attempt, lease_ms: db.renewMs }]
    }
    if (stands) leases.delete(key)
    const taken = stands ? db.applied : db.stale
    taken.push(result)
    return []
  }

  function leasedBy(batch: string): Delivery[] {
    const now = clock.now()
    const own = [...leases.values()].filter((lease) => lease.batch === batch && lease.until > now)
    return own.map(({ delivery, until }) => ({ ...delivery, lease_ms: until - now }))
  }

  function answerOf(
    deliveries: Delivery[],
    stale: number,
    known: DispatchCall['known'],
  ): DispatchResponse {
    const events = deliveries.map(({ event }) =>
      [event, sampleEvent({ org_id: db.orgOf(event) })] as const
    )
    const revision = JSON.stringify(db.endpoint)
    const endpoints = deliveries.filter(({ endpoint }) => known[endpoint] !== revision)
      .map(({ endpoint }) => [endpoint, sampleEndpoint({ ...db.endpoint, revision })] as const)
    return {
      stale,
      routed: 0,
      stop: db.stop,
      deliveries,
      events: Object.fromEntries(events),
      endpoints: Object.fromEntries(endpoints),
      settings: sampleSettings(db.settings),
      error: null,
      problem: db.problem,
      more: deliveries.length >= db.mostClaimed,
      ...db.nowMs === null ? {} : { now_ms: db.nowMs() },
    }
  }

  function add(...deliveries: Partial<Delivery>[]): void {
    for (const over of deliveries) {
      queue.push(sampleDelivery({ event: `event-${++added}`, ...over }))
    }
  }

  const db: FakeDatabase = {
    dispatch,
    close: () => Promise.resolve(),
    add,
    calls: [],
    applied: [],
    stale: [],
    refusesAll: false,
    nowMs: null,
    troubles: [],
    isRejected: null,
    rejection: 'partial',
    mostResults: Infinity,
    latencyMs: 0,
    mostClaimed: Infinity,
    stop: null,
    problem: null,
    renewMs: null,
    orgOf: () => 'org-1',
    settings: {},
    endpoint: {},
    get leased() {
      return leases.size
    },
    get waiting() {
      return queue.length
    },
  }
  return db
}

function keyOf({ event, endpoint, attempt }: ClaimKey): string {
  return `${event} ${endpoint} ${attempt}`
}

function fault(kind: FaultKind, code: string): DispatchReply {
  return { ok: false, fault: { kind, code, message: `as asked: ${code}`, cause: undefined } }
}

const faults = {
  unreached: fault('temporary', ''),
  read_only: fault('temporary', '25006'),
  timeout: fault('temporary', '57014'),
  refused: fault('permanent', '42501'),
  partial: fault('partial', '22P05'),
  deadlock: fault('temporary', '40P01'),
} as const
