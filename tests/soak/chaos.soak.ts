/**
 * Publishers with a ledger of their own, receivers that note what comes, and an adversary that breaks
 * everything between them. After each round a checker compares the two from outside. A failure shows the
 * seed, the faults of its round and a shorter sequence that fails too.
 *
 *   npx -y deno@2.9.6 task soak chaos --minutes 30 --seed 7
 *   npx -y deno@2.9.6 task soak chaos --minutes 2 --seed 100 --seeds 30
 *
 * The second one plays 30 seeds one after the other, of which a broken promise or a failed fault ends only its own. With OUTHOOK_SOAK_RECORD=1 it adds its figures to chaos/results.json, of which docs/reliability.md has a table.
 */

import { expect } from '@std/expect'
import { messageOf } from '../../supabase/local/errors.ts'
import { print } from '../../supabase/local/print.ts'
import { newSeed } from '../concurrency/_support/random.ts'
import { firstError } from './chaos/acts.ts'
import { consoleFaults } from './chaos/faults/console.ts'
import { jobFaults } from './chaos/faults/jobs.ts'
import { kickFaults } from './chaos/faults/kick.ts'
import { operatorFaults } from './chaos/faults/operators.ts'
import { schemaFaults } from './chaos/faults/schema.ts'
import { tellViolations } from './chaos/checker.ts'
import type { Violation } from './chaos/evidence.ts'
import type { Step } from './chaos/fault.ts'
import { faults, tellSteps } from './chaos/plan.ts'
import { evidenceFile, playOnce, playRounds, refusedAtRest } from './chaos/play.ts'
import { record, type Run, tellFaults, tellRuns } from './chaos/results.ts'
import { shrink } from './chaos/shrink.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const minutes = Number(Deno.env.get('OUTHOOK_SOAK_MINUTES') ?? (isShort ? 3 : 30))
const firstSeed = Number(Deno.env.get('OUTHOOK_SOAK_SEED') ?? newSeed())
const count = Number(Deno.env.get('OUTHOOK_SOAK_SEEDS') ?? 1)
const seeds = Array.from({ length: count }, (_, n) => firstSeed + n)
/** Eight are enough for each choice of a fault to come. The short form plays two, which differ from run to run. */
const seedsAtRest = Array.from({ length: isShort ? 2 : 8 }, (_, n) => isShort ? firstSeed + n : n)
/** The runs of this process. */
const runs: Run[] = []
/** How long to look for a shorter sequence: less of it where other seeds wait. */
const shrinkMinutes = Number(
  Deno.env.get('OUTHOOK_SOAK_SHRINK') ?? (isShort || count > 1 ? 3 : 20),
)

/** Without them a fault that the database always refuses would look like one that does no harm. */
const atRest = Object.keys({
  ...consoleFaults,
  ...jobFaults,
  ...operatorFaults,
  ...kickFaults,
  ...schemaFaults,
})

Deno.test({
  name: 'a database at rest refuses no fault',
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(): Promise<void> {
    const refused = await refusedAtRest([...atRest, 'read only'], seedsAtRest)
    // A delivery in flight cannot be replayed.
    const others = refused.filter(([, problem]) => !/ is in flight$/.test(String(problem)))
    expect(others.map(([kind, problem]) => `${kind}: ${problem}`)).toEqual([])
  },
})

for (const seed of seeds) {
  Deno.test({
    name: `promises hold through ${minutes} minutes of faults (seed ${seed})`,
    // Dead connections of drivers may end later than the test.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () =>
      play(seed).catch((error) => {
        throw firstError(error)
      }),
  })
}

Deno.test({
  name: 'the runs add up',
  ignore: count === 1,
  fn(): void {
    print(tellRuns(runs, Object.keys(faults)))
    expect(runs.length).toBe(count)
  },
})

async function play(seed: number): Promise<void> {
  const { rounds, done, events, arrivals, settledMs } = await playRounds({ seed, minutes })
  const { steps = [], violations = [] } = rounds.at(-1) ?? {}
  const broken = new Set(violations.map(({ promise }) => promise))
  const run = await record({ seed, minutes, done, events, requests: arrivals, settledMs, broken })
  runs.push(run)
  const n = [...done.values()].reduce((sum, times) => sum + times, 0)
  print(
    `  seed ${seed}: ${n} faults of ${done.size} kinds, ${events} events, ${arrivals} requests\n` +
      `  ${tellFaults(run.faults)}`,
  )
  if (violations.length === 0) return
  const told = tellViolations(violations)
  print(
    `  broken: ${told}\n  the faults of this round (${evidenceFile} has the evidence):\n${
      tellSteps(steps)
    }`,
  )
  const deadline = performance.now() + shrinkMinutes * 60_000
  const shorter = await shrink(steps, {
    fails: (some) => breaks(seed, some, broken),
    isOver: () => performance.now() > deadline,
  })
  throw new Error(
    `Seed ${seed}, round ${rounds.length}: ${told}\n` +
      `${shorter.length} of its ${steps.length} faults, to which it could be shortened in ` +
      `${shrinkMinutes} minutes:\n${tellSteps(shorter)}`,
  )
}

/** Whether these faults break one of these promises. A fault that fails hides no promise that is broken already. */
async function breaks(
  seed: number,
  steps: readonly Step[],
  broken: ReadonlySet<Violation['promise']>,
): Promise<boolean> {
  try {
    return (await playOnce(seed, steps)).some(({ promise }) => broken.has(promise))
  } catch (error) {
    print(`  a shorter sequence could not be played: ${messageOf(firstError(error))}`)
    return false
  }
}
