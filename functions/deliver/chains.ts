import type { Delivery, Result } from '../_shared/contract/contract.ts'
import { attemptDelivery, type AttemptDeps, type Batch, release } from './attempt.ts'

export type ChainDeps = AttemptDeps & {
  leaseMarginMs: number
  renewMarginMs: number
  /** Whether nothing more is to be sent. */
  isHalted(): boolean
  /** A new lease for the delivery's lane: when it ends, or null when the lane does not get it. */
  renew(delivery: Delivery): Promise<number | null>
  /** Takes each result as it comes. */
  note(result: Result, delivery: Delivery): void
}

/** The deliveries of an ordered lane make one chain, in order; any other is a chain of its own. */
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
 * Sends a chain one by one. When the lease of an ordered one runs short a new one is asked for,
 * beside the next send where that still fits. After a failure, or where the lease would not hold,
 * the rest is released unsent.
 */
export async function sendChain(
  deps: ChainDeps,
  chain: readonly Delivery[],
  batch: Batch,
): Promise<void> {
  const last = chain.at(-1)
  let isOpen = true
  // All of a claim's rows of one lane have one lease.
  let leaseEndsAt = batch.calledAt + (last?.lease_ms ?? 0)
  let renewing: Promise<void> | null = null

  /** Whether an attempt begun now is over so long before the lease ends. */
  function fits({ endpoint }: Delivery, marginMs: number): boolean {
    const timeoutMs = batch.answer.endpoints[endpoint]?.timeout_ms ?? 0
    return deps.clock.now() + timeoutMs + marginMs <= leaseEndsAt
  }

  /** The last delivery names the lane: it is held until the chain ends. */
  async function renew(named: Delivery): Promise<void> {
    leaseEndsAt = await deps.renew(named) ?? leaseEndsAt
    renewing = null
  }

  for (const delivery of chain) {
    if (isOpen && last?.ordered && !deps.isHalted()) {
      // Nothing follows the last, which needs no longer lease while it fits.
      const marginMs = delivery === last ? deps.leaseMarginMs : deps.renewMarginMs
      if (!fits(delivery, marginMs)) renewing ??= renew(last)
      if (!fits(delivery, deps.leaseMarginMs)) await renewing
    }
    isOpen &&= !deps.isHalted() && fits(delivery, deps.leaseMarginMs)
    if (!isOpen) {
      deps.note(release(delivery), delivery)
      continue
    }
    const result = await attemptDelivery(deps, delivery, batch)
    isOpen = result.outcome === 'delivered'
    deps.note(result, delivery)
  }
}
