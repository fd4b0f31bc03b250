import type { Delivery, Result } from '../_shared/contracts.ts'
import { attemptDelivery, type AttemptDeps, type Batch, fitsLease, release } from './attempt.ts'
import type { Pacer } from './pacer.ts'

export type ChainDeps = AttemptDeps & {
  pacer: Pacer
  leaseMarginMs: number
  /** Whether nothing more is to be sent. */
  isHalted(): boolean
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
 * Sends a chain one by one. After a failure, or where the lease would not hold, the rest is
 * released unsent.
 */
export async function sendChain(
  deps: ChainDeps,
  chain: readonly Delivery[],
  batch: Batch,
): Promise<void> {
  let isOpen = true
  for (const delivery of chain) {
    isOpen &&= !deps.isHalted() && fitsLease(delivery, batch, deps.clock.now(), deps.leaseMarginMs)
    if (!isOpen) {
      deps.note(release(delivery), delivery)
      continue
    }
    const message = batch.answer.events[delivery.event]?.message
    const channel = batch.answer.endpoints[delivery.endpoint]?.channel
    if (message && channel) await deps.pacer.wait(message, channel)
    const result = await attemptDelivery(deps, delivery, batch)
    isOpen = result.outcome === 'delivered'
    deps.note(result, delivery)
  }
}
