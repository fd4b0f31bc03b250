import { byDelivery, type Evidence, type Receipt, type Violation } from '../evidence.ts'
import type { Arrival, Replay } from '../ledger.ts'

/** Outcomes after which nobody knows what the receiver got, so that a resent request is not recorded either. */
const unknown = new Set(['lease_expired', 'timeout', 'reset', 'connect'])

/**
 * Each duplicate has a receipt: each request has that of its attempt, a second request of an attempt was
 * resent, and a further attempt follows a failure or a replay.
 */
export function findDuplicates({ ledger, receipts }: Evidence): Violation[] {
  const receiptsOf = byDelivery(receipts.filter(({ kind }) => kind === 'attempt'))
  return [...perDelivery(ledger)].flatMap(([key, { name, arrivals, replays }]) => {
    const known = receiptsOf.get(key) ?? []
    const tell = (what: string): Violation => ({
      promise: 'duplicate',
      what: `${arrivals[0]?.ref} at ${name}: ${what}`,
    })
    return [
      ...uncovered(arrivals, known).map(tell),
      ...tooMany(arrivals, known).map(tell),
      ...needless(arrivals, known, replays).map(tell),
    ]
  })
}

/** At most one live lease: no two receipts of one attempt, and no request while another one may succeed. */
export function findSharedLeases({ ledger, receipts }: Evidence): Violation[] {
  const attempts = byDelivery(receipts.filter(({ kind }) => kind === 'attempt'))
  const twice = [...attempts].flatMap(([key, own]): Violation[] => {
    if (new Set(own.map(({ attempt }) => attempt)).size === own.length) return []
    return [{ promise: 'lease', what: `${key} has two receipts of one attempt` }]
  })
  const overlaps = [...perDelivery(ledger)].flatMap(([key, { name, arrivals }]): Violation[] => {
    const own = attempts.get(key) ?? []
    return arrivals.flatMap((one) => {
      const { outcome, error_class } = receiptOf(own, one.attempt) ?? {}
      // The sender had given up on this one, whatever the receiver still did with it.
      if (outcome === 'failed' && unknown.has(error_class ?? '')) return []
      return arrivals.filter(({ attempt, at }) =>
        attempt > one.attempt && at < (one.answeredAt ?? one.at)
      ).map(({ attempt }) => ({
        promise: 'lease',
        what: `${one.ref} at ${name}: attempt ${attempt} came during attempt ${one.attempt}`,
      }))
    })
  })
  return [...twice, ...overlaps]
}

function uncovered(arrivals: readonly Arrival[], receipts: readonly Receipt[]): string[] {
  return arrivals.filter(({ attempt }) => receiptOf(receipts, attempt) === undefined)
    .map(({ attempt }) => `attempt ${attempt} arrived and has no receipt`)
}

function tooMany(arrivals: readonly Arrival[], receipts: readonly Receipt[]): string[] {
  return [...Map.groupBy(arrivals, ({ attempt }) => attempt)].flatMap(([attempt, own]) => {
    const receipt = receiptOf(receipts, attempt)
    const isResent = receipt?.resent === true || unknown.has(receipt?.error_class ?? '')
    const most = isResent ? 2 : 1
    return own.length <= most
      ? []
      : [`attempt ${attempt} arrived ${own.length} times, and its receipt explains ${most}`]
  })
}

function needless(
  arrivals: readonly Arrival[],
  receipts: readonly Receipt[],
  replays: readonly Replay[],
): string[] {
  return arrivals.flatMap(({ attempt, at }) => {
    const before = receipts.filter((receipt) => receipt.attempt < attempt)
      .toSorted((a, b) => b.attempt - a.attempt)[0]
    if (before === undefined || before.outcome === 'failed') return []
    if (replays.some((replay) => replay.at < at)) return []
    return [`attempt ${attempt} arrived although attempt ${before.attempt} is ${before.outcome}`]
  })
}

function receiptOf(receipts: readonly Receipt[], attempt: number): Receipt | undefined {
  return receipts.find((receipt) => receipt.attempt === attempt)
}

interface Delivery {
  name: string
  arrivals: Arrival[]
  replays: Replay[]
}

/** The arrivals and replays of each delivery, by its event and its endpoint. */
function perDelivery(
  { arrivals, replays, targets }: Evidence['ledger'],
): Map<string, Delivery> {
  const ids = new Map(targets.map(({ name, id }) => [name, id]))
  const keyOf = (one: { id: string; endpoint: string }): string =>
    `${one.id} ${ids.get(one.endpoint)}`
  const replaysOf = Map.groupBy(replays, keyOf)
  return new Map(
    [...Map.groupBy(arrivals, keyOf)].map(([key, own]) => [key, {
      name: own[0]?.endpoint ?? '',
      arrivals: own,
      replays: replaysOf.get(key) ?? [],
    }]),
  )
}
