import type { Model, Pair } from './model.ts'
import type { Result, Seen } from './trace.ts'

/** Applies the leases that the step recorded as lost. */
export function lose(model: Model, seen: Seen): void {
  const lost: Result[] = []
  for (const { event, endpoint, attempt, errorClass } of seen.attempts) {
    if (errorClass !== 'lease_expired' || endpoint === null) continue
    const pair = model.pair(event, endpoint)
    // The closing row of a lost last try has the same class.
    if (lost.some((other) => other.event === event && other.endpoint === endpoint)) continue
    model.expect((pair?.lease?.until ?? Infinity) <= model.now, `${event} lost a lease that stands`)
    lost.push({ event, endpoint, attempt, outcome: 'failed', error_class: errorClass })
  }
  const applied = model.apply(lost)
  model.expect(applied === lost.length, `${lost.length - applied} leases were lost twice`)
}

/** Begins a new life of a finished delivery. */
export function reopen(model: Model, pair: Pair): void {
  model.expect(
    pair.endpoint.status !== 'deleted',
    `${pair.name} was put back for a deleted endpoint`,
  )
  Object.assign(pair, {
    open: true,
    failed_attempts: 0,
    lost: 0,
    lostBefore: 0,
    holds: 0,
    lease: null,
    lane: null,
    due: model.now,
  })
  Object.assign(pair, { ended: null, replayedAt: model.now })
}
