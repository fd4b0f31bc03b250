import type { ClaimKey, Delivery, Renewal, Renewed } from '../_shared/contract/contract.ts'
import { keyOf } from './attempt.ts'

type LeaseRequest = { delivery: Delivery; resolve(leaseEndsAt: number | null): void }

/** The renewals of one dispatch. */
export type RenewalBatch = {
  readonly renewals: Renewal[]
  /** Resolves the requests with the result of the dispatch; null: there is none. */
  settle(renewed: readonly Renewed[] | null, calledAt: number): void
}

/** Requests of a run's chains for new leases. */
export type Renewals = {
  /** Resolves with the end of the new lease, on the run's clock; null if the lane does not get one. */
  request(delivery: Delivery): Promise<number | null>
  /** Takes all requests since the last call. */
  take(): RenewalBatch
  /** Resolves open and later requests with null. Returns whether there were open ones. */
  close(): boolean
}

/** `onRequest` is called after each request. */
export function createRenewals(onRequest: () => void): Renewals {
  let requests: LeaseRequest[] = []
  let isClosed = false

  function request(delivery: Delivery): Promise<number | null> {
    if (isClosed) return Promise.resolve(null)
    return new Promise((resolve) => {
      requests.push({ delivery, resolve })
      onRequest()
    })
  }

  function take(): RenewalBatch {
    const taken = requests
    requests = []
    return batchOf(taken)
  }

  function close(): boolean {
    isClosed = true
    const { renewals, settle } = take()
    settle(null, 0)
    return renewals.length > 0
  }

  return { request, take, close }
}

function batchOf(requests: readonly LeaseRequest[]): RenewalBatch {
  function settle(renewed: readonly Renewed[] | null, calledAt: number): void {
    const leases = new Map(renewed?.map((one) => [nameOf(one), one.lease_ms]))
    for (const { delivery, resolve } of requests) {
      const leaseMs = leases.get(nameOf(delivery))
      resolve(leaseMs === undefined ? null : calledAt + leaseMs)
    }
  }

  const renewals = requests.map(({ delivery }): Renewal => ({
    ...keyOf(delivery),
    outcome: 'renew',
  }))
  return { renewals, settle }
}

function nameOf({ event, endpoint, attempt }: ClaimKey): string {
  return `${event} ${endpoint} ${attempt}`
}
