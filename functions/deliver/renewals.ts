import type { ClaimKey, Delivery, Renewal, Renewed } from '../_shared/contracts.ts'
import { keyOf } from './attempt.ts'

/** Deliveries of one chain that wait for a new lease. */
type Asked = {
  deliveries: readonly Delivery[]
  settle(leaseEndsAt: number | null): void
}

/** What goes out with one dispatch. */
export type RenewalBatch = {
  readonly renewals: Renewal[]
  /** Tells the chains what the answer brought; null: there is none. */
  settle(renewed: readonly Renewed[] | null, calledAt: number): void
}

/** The new leases that the chains of a run wait for. */
export type Renewals = {
  /** When the new lease of all of these ends, on the run's clock; null when they do not get it. */
  ask(deliveries: readonly Delivery[]): Promise<number | null>
  /** All that was asked for since the last time. */
  take(): RenewalBatch
  /** From now on nobody gets any. */
  close(): void
}

/** `onAsked` is called after something has been asked for. */
export function createRenewals(onAsked: () => void): Renewals {
  let asked: Asked[] = []
  let isClosed = false

  function ask(deliveries: readonly Delivery[]): Promise<number | null> {
    if (isClosed) return Promise.resolve(null)
    return new Promise((settle) => {
      asked.push({ deliveries, settle })
      onAsked()
    })
  }

  function take(): RenewalBatch {
    const taken = asked
    asked = []
    return batchOf(taken)
  }

  function close(): void {
    isClosed = true
    take().settle(null, 0)
  }

  return { ask, take, close }
}

function batchOf(asked: readonly Asked[]): RenewalBatch {
  function settle(renewed: readonly Renewed[] | null, calledAt: number): void {
    const leases = new Map(renewed?.map((one) => [nameOf(one), one.lease_ms]))
    for (const { deliveries, settle } of asked) {
      const shortest = Math.min(...deliveries.map((one) => leases.get(nameOf(one)) ?? -Infinity))
      settle(shortest === -Infinity ? null : calledAt + shortest)
    }
  }

  const deliveries = asked.flatMap(({ deliveries }) => deliveries)
  const renewals = deliveries.map((one): Renewal => ({ ...keyOf(one), outcome: 'renew' }))
  return { renewals, settle }
}

function nameOf({ event, endpoint, attempt }: ClaimKey): string {
  return `${event} ${endpoint} ${attempt}`
}
