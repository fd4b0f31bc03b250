import type { Delivery, Result } from '../_shared/contract/contract.ts'
import { attemptDelivery, type AttemptDeps, type Batch, release } from './attempt.ts'

export type ChainDeps = AttemptDeps & {
  leaseMarginMs: number
  renewMarginMs: number
  isHalted(): boolean
  /** Requests a new lease for the delivery's lane: its end, or null if the lane does not get one. */
  renew(delivery: Delivery): Promise<number | null>
  /** Called with each result. */
  note(result: Result, delivery: Delivery): void
}

/** One chain for each ordered lane, in order, and one for each other delivery. */
export function chainsOf(deliveries: readonly Delivery[]): Delivery[][] {
  const chains: Delivery[][] = []
  const lanes = new Map<string, Delivery[]>()
  for (const delivery of deliveries) {
    const chain = delivery.ordered ? lanes.get(delivery.lane) : undefined
    if (chain !== undefined) {
      chain.push(delivery)
      continue
    }
    const begun = [delivery]
    chains.push(begun)
    if (delivery.ordered) lanes.set(delivery.lane, begun)
  }
  return chains
}

/**
 * Sends the deliveries of a chain one by one. If the lease of an ordered chain becomes too short, a new
 * one is requested: during the next send if that still fits into the old lease, otherwise before it.
 * After a failure, or if the lease stays too short, the rest is released unsent.
 */
export async function sendChain(
  deps: ChainDeps,
  chain: readonly Delivery[],
  batch: Batch,
): Promise<void> {
  const last = chain.at(-1)
  let isOpen = true
  // All deliveries of one lane in a response have the same lease.
  let leaseEndsAt = batch.calledAt + (last?.lease_ms ?? 0)
  let renewing: Promise<void> | null = null

  /** Whether an attempt that starts now ends at least `marginMs` before the lease does. */
  function fits({ endpoint }: Delivery, marginMs: number): boolean {
    const timeoutMs = batch.response.endpoints[endpoint]?.timeout_ms ?? 0
    return deps.clock.now() + timeoutMs + marginMs <= leaseEndsAt
  }

  /** The last delivery identifies the lane, because it stays claimed until the chain ends. */
  async function renew(named: Delivery): Promise<void> {
    leaseEndsAt = await deps.renew(named) ?? leaseEndsAt
    renewing = null
  }

  for (const delivery of chain) {
    if (isOpen && last?.ordered && !deps.isHalted()) {
      // Nothing follows the last delivery, so the lease need not be longer than its attempt.
      const marginMs = delivery === last ? deps.leaseMarginMs : deps.renewMarginMs
      if (!fits(delivery, marginMs)) renewing ??= renew(last)
      if (!fits(delivery, deps.leaseMarginMs)) await renewing
    }
    isOpen &&= !deps.isHalted() && fits(delivery, deps.leaseMarginMs)
    if (!isOpen) {
      deps.note(release(delivery), delivery)
      continue
    }
    const stillFits = (): boolean => fits(delivery, deps.leaseMarginMs)
    const result = await attemptDelivery(deps, delivery, batch, stillFits)
    isOpen = result.outcome === 'delivered'
    deps.note(result, delivery)
  }
}
