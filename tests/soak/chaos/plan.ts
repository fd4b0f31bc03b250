import { Random } from '../../concurrency/_support/random.ts'
import type { Family, Step } from './fault.ts'
import { clockFaults } from './faults/clock.ts'
import { consoleFaults } from './faults/console.ts'
import { diskFaults } from './faults/disk.ts'
import { jobFaults } from './faults/jobs.ts'
import { kickFaults } from './faults/kick.ts'
import { networkFaults } from './faults/network.ts'
import { operatorFaults } from './faults/operators.ts'
import { postgresFaults } from './faults/postgres.ts'
import { processFaults } from './faults/processes.ts'
import { schemaFaults } from './faults/schema.ts'

/** All kinds of faults. */
export const faults: Family = {
  ...postgresFaults,
  ...diskFaults,
  ...networkFaults,
  ...processFaults,
  ...kickFaults,
  ...consoleFaults,
  ...jobFaults,
  ...operatorFaults,
  ...clockFaults,
  ...schemaFaults,
}

/** A fault lasts at most so long, if its length can be chosen. */
const LONGEST_MS = 4_000
/** Between the begins of two faults there is at most so much time, unless a plan says otherwise. */
const LARGEST_GAP_MS = 1_000

/** Rounds of faults without an end. Each kind comes once before any comes again. */
export function* planRounds(
  { seed, roundMs, kinds, gapMs = LARGEST_GAP_MS }: {
    seed: number
    roundMs: number
    kinds: readonly string[]
    gapMs?: number
  },
): Generator<Step[], never> {
  const random = new Random(seed)
  let left: string[] = []
  for (;;) {
    const steps: Step[] = []
    for (let at = random.int(gapMs); at < roundMs; at += random.int(gapMs)) {
      if (left.length === 0) left = random.shuffled(kinds)
      const kind = left.pop() ?? ''
      steps.push({ kind, at, ms: 100 + random.int(LONGEST_MS), seed: random.int(2 ** 31) })
    }
    yield steps
  }
}

/** A sequence as lines to read. */
export function tellSteps(steps: readonly Step[]): string {
  return steps.map(({ kind, at, ms, seed }) => `  ${at} ms: ${kind} (${ms} ms, ${seed})`).join('\n')
}
