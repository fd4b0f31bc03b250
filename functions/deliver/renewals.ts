import type { ClaimKey, Delivery, Renewal, Renewed } from '../_shared/contract/contract.ts'
import { keyOf } from './attempt.ts'

/** A delivery whose lane waits for a new lease. */
type Asked = { delivery: Delivery; answer(leaseEndsAt: number | null): void }

/** What goes out with one dispatch. */
export type RenewalBatch = {
  readonly renewals: Renewal[]
  /** Tells the chains what the dispatch brought; null: it was not answered. */
  settle(renewed: readonly Renewed[] | null, calledAt: number): void
}

/** The new leases that the chains of a run wait for. */
export type Renewals = {
  /** When the new lease of its lane ends, on the run's clock; null when the lane does not get one. */
  ask(delivery: Delivery): Promise<number | null>
  /** All that was asked for since the last time. */
  take(): RenewalBatch
  /** From now on nobody gets any. Whether anybody had asked. */
  close(): boolean
}

/** `onAsked` is called after something has been asked for. */
export function createRenewals(onAsked: () => void): Renewals {
  let asked: Asked[] = []
  let isClosed = false

  function ask(delivery: Delivery): Promise<number | null> {
    if (isClosed) return Promise.resolve(null)
    return new Promise((answer) => {
      asked.push({ delivery, answer })
      onAsked()
    })
  }

  function take(): RenewalBatch {
    const taken = asked
    asked = []
    return batchOf(taken)
  }

  function close(): boolean {
    isClosed = true
    const { renewals, settle } = take()
    settle(null, 0)
    return renewals.length > 0
  }

  return { ask, take, close }
}

function batchOf(asked: readonly Asked[]): RenewalBatch {
  function settle(renewed: readonly Renewed[] | null, calledAt: number): void {
    const leases = new Map(renewed?.map((one) => [nameOf(one), one.lease_ms]))
    for (const { delivery, answer } of asked) {
      const leaseMs = leases.get(nameOf(delivery))
      answer(leaseMs === undefined ? null : calledAt + leaseMs)
    }
  }

  const renewals = asked.map(({ delivery }): Renewal => ({ ...keyOf(delivery), outcome: 'renew' }))
  return { renewals, settle }
}

function nameOf({ event, endpoint, attempt }: ClaimKey): string {
  return `${event} ${endpoint} ${attempt}`
}
