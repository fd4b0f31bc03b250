import type { Delivery, Result } from '../_shared/contracts.ts'
import { attemptDelivery, type AttemptDeps, type Batch, release } from './attempt.ts'
import type { Pacer } from './pacer.ts'

export type ChainDeps = AttemptDeps & {
  pacer: Pacer
  leaseMarginMs: number
  /** Whether nothing more is to be sent. */
  isHalted(): boolean
  /** A new lease for all of these: when it ends, or null when they do not get it. */
  renew(deliveries: readonly Delivery[]): Promise<number | null>
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
 * Sends a chain one by one. Where the lease ends too soon for the next, a new one is asked for. After
 * a failure, or where the lease would not hold, the rest is released unsent.
 */
export async function sendChain(
  deps: ChainDeps,
  chain: readonly Delivery[],
  batch: Batch,
): Promise<void> {
  let isOpen = true
  let leaseEndsAt = batch.calledAt + (chain[0]?.lease_ms ?? 0)

  /** Whether an attempt begun now is over, and its result recorded, before the lease ends. */
  function fits({ endpoint }: Delivery): boolean {
    const timeoutMs = batch.answer.endpoints[endpoint]?.timeout_ms ?? 0
    return deps.clock.now() + timeoutMs + deps.leaseMarginMs <= leaseEndsAt
  }

  for (const [place, delivery] of chain.entries()) {
    if (isOpen && place > 0 && !deps.isHalted() && !fits(delivery)) {
      leaseEndsAt = await deps.renew(chain.slice(place)) ?? leaseEndsAt
    }
    isOpen &&= !deps.isHalted() && fits(delivery)
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
