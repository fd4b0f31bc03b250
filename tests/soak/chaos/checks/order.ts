import type { Evidence, Violation } from '../evidence.ts'
import type { Arrival, Publication, Target } from '../ledger.ts'
import { isGood } from './loss.ts'

/**
 * Order kept: an ordered endpoint gets an event only after it has answered the earlier ones of its key with
 * 2xx, or after their end. Transactions that overlap have no order, and one whose COMMIT got no response may
 * overlap with all that follow.
 */
export function findDisorder({ ledger, letters }: Evidence): Violation[] {
  const dead = new Set(letters.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`))
  return ledger.targets.filter(({ ordered }) => ordered).flatMap((target) => {
    const arrivals = Map.groupBy(
      ledger.arrivals.filter(({ endpoint }) => endpoint === target.name),
      ({ ref }) => ref,
    )
    const keys = Map.groupBy(
      ledger.publications.filter(({ fate, ref }) => fate === 'committed' && arrivals.has(ref)),
      ({ key }) => key,
    )
    return [...keys.values()].flatMap((events) => disorderOf(target, events, arrivals, dead))
  })
}

function disorderOf(
  target: Target,
  events: readonly Publication[],
  arrivals: ReadonlyMap<string, Arrival[]>,
  dead: ReadonlySet<string>,
): Violation[] {
  const found: Violation[] = []
  let before: { ref: string; answeredAt: number } | null = null
  for (const { ref } of events.toSorted((a, b) => a.n - b.n)) {
    const own = arrivals.get(ref) ?? []
    const first = Math.min(...own.map(({ at }) => at))
    if (before !== null && first < before.answeredAt) {
      const early = before.answeredAt - first
      found.push({
        promise: 'order',
        what: `${ref} came to ${target.name} ${early} ms before ${before.ref} was answered`,
      })
    }
    const answered = own.filter(({ status }) => isGood(status))
      .map(({ answeredAt }) => answeredAt ?? Infinity)
    const isDead = own.some(({ id }) => dead.has(`${id} ${target.id}`))
    if (answered.length > 0 && !isDead) before = { ref, answeredAt: Math.min(...answered) }
  }
  return found
}
