/** Opens and closes the books of a round: what all parties counted before and after it. */

import type { Report } from '../receiver.ts'
import type { Stored } from '../sides/_protocol.ts'
import { tallyProblems } from './checks.ts'
import type { Child } from './child.ts'

interface Counts {
  claimed: number
  errors: number
  lastError?: string
}

/** The books of a round that has begun. */
export interface Account {
  /** Compares all counts; throws what does not agree. Everybody must rest. */
  close(published: number, isDrained: boolean): Promise<void>
}

/** Opens the books of `workers`, which share one store; `name` is for errors. */
export async function openAccount(
  name: string,
  receiver: Child,
  workers: Child[],
): Promise<Account> {
  const [before, countsBefore] = [await stored(workers), await counts(workers)]
  return {
    close: async (published, isDrained) => {
      const report = await receiver.ask<Report>({ do: 'report' })
      const [after, countsAfter] = [await stored(workers), await counts(workers)]
      const problems = tallyProblems({
        ...{ published, isDrained, ...report },
        claimed: countsAfter.claimed - countsBefore.claimed,
        errors: countsAfter.errors - countsBefore.errors,
        ...countsAfter.lastError === undefined ? {} : { lastError: countsAfter.lastError },
        finished: after.finished === null ? null : after.finished - (before.finished ?? 0),
        unfinished: after.unfinished,
      })
      if (problems.length > 0) throw new Error(`${name}: ${problems.join('; ')}`)
    },
  }
}

async function stored([worker]: Child[]): Promise<Stored> {
  if (worker === undefined) throw new Error('a round needs a worker')
  return await worker.ask<Stored>({ do: 'stored' })
}

async function counts(workers: Child[]): Promise<Counts> {
  const sum: Counts = { claimed: 0, errors: 0 }
  for (const worker of workers) {
    const { claimed, errors, lastError } = await worker.ask<Counts>({ do: 'counts' })
    sum.claimed += claimed
    sum.errors += errors
    if (lastError !== undefined) sum.lastError = lastError
  }
  return sum
}
