/** A steady load: a publisher commits at a rate, and each event's arrival is set against its commit. */

import type { Report } from '../receiver.ts'
import type { SideSpec } from '../sides/catalog.ts'
import { openAccount } from './account.ts'
import { arrivalProblems } from './checks.ts'
import type { Bench } from './bench.ts'
import type { Child } from './child.ts'

export interface Load {
  spec: SideSpec
  worker: Child
  publisher: Child
  /** Events a second. */
  rate: number
  seconds: number
  /**
   * Whether to compare arrivals alone, since the store holds deliveries that never end and the side
   * claims them too.
   */
  isUnbalanced?: boolean
  /** Whether requests must hang as the last event is published, or must not; not asked without it. */
  mustHang?: boolean
}

/** A transaction each so often, of all that is due. */
const TICK_MS = 20
const TIMEOUT_MS = 45_000

/** From the return of an event's commit to its first arrival, in ms, for each event. The worker works. */
export async function steady(
  { receiver }: Bench,
  { spec, worker, publisher, rate, seconds, isUnbalanced = false, mustHang }: Load,
): Promise<number[]> {
  const count = Math.round(rate * seconds)
  const account = await openAccount(spec.name, receiver, [worker])
  await receiver.ask({ do: 'reset', size: count })
  const { commits } = await publisher.ask<{ commits: [number, number, number][] }>({
    ...{ do: 'feed', from: 0, rate, seconds },
    tickMs: TICK_MS,
  })
  const { hanging } = await receiver.ask<Report>({ do: 'report' })
  if (mustHang !== undefined && (hanging > 0) !== mustHang) {
    throw new Error(
      `${spec.name}: ${hanging} requests hung, which were ${mustHang ? '' : 'not '}to`,
    )
  }
  const seen = await receiver.ask<Report>({ do: 'await', count, timeoutMs: TIMEOUT_MS })
  const { times } = await receiver.ask<{ times: number[] }>({ do: 'times', from: 0, count })
  if (isUnbalanced) {
    const problems = arrivalProblems({ ...seen, published: count, isDrained: true })
    if (problems.length > 0) throw new Error(`${spec.name}: ${problems.join('; ')}`)
  }
  if (!isUnbalanced) {
    await worker.ask({ do: 'rest' })
    await account.close(count, true)
    await worker.ask({ do: 'work' })
  }
  // One that arrives before its publisher hears of the commit has waited for nothing.
  return commits.flatMap(([from, events, at]) =>
    times.slice(from, from + events).map((arrived) => Math.max(0, arrived - at))
  )
}
