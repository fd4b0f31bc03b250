/** Starts sides for a question, and ends them. */

import { problemOf } from './problem.ts'
import type { SideSpec } from '../sides/catalog.ts'
import type { Bench } from './bench.ts'
import type { Child } from './child.ts'

/** A side with its processes. */
export interface Contestant {
  spec: SideSpec
  worker: Child
  publisher: Child | null
}

/**
 * Starts each side with an empty store. One that cannot start is a problem and stays out. Those of
 * Outhook share one store.
 */
export async function enter(
  bench: Bench,
  specs: SideSpec[],
  { endpoints, hasPublisher }: { endpoints: number; hasPublisher: boolean },
  problems: string[],
): Promise<Contestant[]> {
  const contestants: Contestant[] = []
  for (const spec of specs) {
    await attempt(bench, problems, async () => {
      const isShared = spec.source === 'outhook' &&
        contestants.some((other) => other.spec.source === 'outhook')
      if (!isShared) await bench.prepare(spec, endpoints)
      const worker = await bench.start(spec, 'worker', endpoints)
      const publisher = hasPublisher ? await bench.start(spec, 'publisher', endpoints) : null
      contestants.push({ spec, worker, publisher })
    })
  }
  return contestants
}

/** Ends all processes. */
export async function leave(contestants: Contestant[]): Promise<void> {
  for (const { worker, publisher } of contestants) {
    await worker.end()
    await publisher?.end()
  }
}

/** Does `work`; what it throws becomes a problem, told at once, and undefined the result. */
export async function attempt<T>(
  bench: Bench,
  problems: string[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    const problem = problemOf(error)
    problems.push(problem)
    bench.log(`PROBLEM: ${problem}`)
    return undefined
  }
}
