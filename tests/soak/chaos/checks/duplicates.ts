import { byDelivery, type Evidence, type Receipt, type Violation } from '../evidence.ts'
import type { Arrival, ClockMove, Replay } from '../ledger.ts'

/** Outcomes after which nobody knows what the receiver got, so that a resent request is not recorded either. */
const unknown = new Set(['lease_expired', 'timeout', 'reset', 'connect'])

/**
 * Each duplicate has a receipt: there are no more requests than receipts explain, and none after a success
 * without a replay. A request does not tell its claim number, so they are counted and compared by time.
 */
export function findDuplicates(evidence: Evidence): Violation[] {
  return perDelivery(evidence).flatMap(({ name, arrivals, receipts, replays }) => {
    const tell = (what: string): Violation => ({
      promise: 'duplicate',
      what: `${arrivals[0]?.ref} at ${name}: ${what}`,
    })
    const most = receipts.reduce((sum, one) => sum + (one.resent || isUnknown(one) ? 2 : 1), 0)
    const successes = receipts.filter(({ outcome }) => outcome === 'delivered').length
    return [
      ...arrivals.length > most
        ? [tell(`${arrivals.length} requests, and the receipts explain ${most}`)]
        : [],
      ...successes > 1 + replays.length
        ? [tell(`delivered ${successes} times after ${replays.length} replays`)]
        : [],
      ...findNeedless(arrivals, receipts, replays, evidence.ledger.clockMoves).map(tell),
    ]
  })
}

/** What arrives after a success, unless it was replayed before, or an earlier request may have been late. */
function findNeedless(
  arrivals: readonly Arrival[],
  receipts: readonly Receipt[],
  replays: readonly Replay[],
  moves: readonly ClockMove[],
): string[] {
  const success = Math.min(
    ...receipts.filter(({ outcome }) => outcome === 'delivered').map(({ at }) =>
      realTime(at, moves)
    ),
  )
  if (receipts.some(isUnknown)) return []
  return arrivals.filter(({ at }) => at > success && !replays.some((replay) => replay.at < at))
    .map(({ at }) => `a request came ${at - success} ms after it was delivered`)
}

/** How long around a move of its clock the database may show either time, in ms. */
const MOVE_SLACK_MS = 500

/** The latest real time at which the database's clock may have shown `at`. */
function realTime(at: number, moves: readonly ClockMove[]): number {
  const isMoved = moves.some(({ from, until }) =>
    at > from + MOVE_SLACK_MS && at < until - MOVE_SLACK_MS
  )
  const during = moves.flatMap(({ from, until, seconds }) => {
    const real = at - seconds * 1_000
    return real > from - MOVE_SLACK_MS && real < until + MOVE_SLACK_MS ? [real] : []
  })
  const possible = [...isMoved ? [] : [at], ...during]
  return possible.length === 0 ? at : Math.max(...possible)
}

/** At most one live lease: no two receipts of one claim, and no request during another one that has an answer. */
export function findSharedLeases(evidence: Evidence): Violation[] {
  return perDelivery(evidence).flatMap(({ name, arrivals, receipts }) => {
    const tell = (what: string): Violation => ({
      promise: 'lease',
      what: `${arrivals[0]?.ref} at ${name}: ${what}`,
    })
    const claims = new Set(receipts.map(({ attempt }) => attempt))
    const twice = claims.size < receipts.length ? [tell('two receipts of one claim')] : []
    // The sender had given up on one of them, whatever the receiver still did with it.
    if (receipts.some((one) => one.resent === true || isUnknown(one))) return twice
    const [, ...later] = arrivals
    const during = later.filter(({ at }, n) => at < (arrivals[n]?.answeredAt ?? -Infinity))
    return [...twice, ...during.map(() => tell('a request came before the last one was answered'))]
  })
}

function isUnknown({ outcome, error_class }: Receipt): boolean {
  return outcome === 'failed' && unknown.has(error_class ?? '')
}

interface Delivery {
  name: string
  /** In order of time. */
  arrivals: Arrival[]
  receipts: Receipt[]
  replays: Replay[]
}

/** What is known of each delivery of which something arrived. */
function perDelivery({ ledger: { arrivals, replays, targets }, receipts }: Evidence): Delivery[] {
  const ids = new Map(targets.map(({ name, id }) => [name, id]))
  const keyOf = (one: { id: string; endpoint: string }): string =>
    `${one.id} ${ids.get(one.endpoint)}`
  const replaysOf = Map.groupBy(replays, keyOf)
  const receiptsOf = byDelivery(receipts.filter(({ kind }) => kind === 'attempt'))
  return [...Map.groupBy(arrivals, keyOf)].map(([key, own]) => ({
    name: own[0]?.endpoint ?? '',
    arrivals: own.toSorted((a, b) => a.at - b.at),
    receipts: receiptsOf.get(key) ?? [],
    replays: replaysOf.get(key) ?? [],
  }))
}
