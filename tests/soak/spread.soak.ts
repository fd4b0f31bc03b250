/**
 * One huge organisation: RabbitMQ carries each event into two databases, then three, then two again, while an
 * adversary kills databases, workers, consumers, RabbitMQ, and spread-org between its commits. The ledger of the
 * publishers and the receipts of the receivers are compared as in chaos. A failure shows the seed and the faults.
 *
 *   npx -y deno@2.9.6 task soak spread.soak --minutes 10 --seed 7
 *   npx -y deno@2.9.6 task soak spread.soak --minutes 2 --seed 100 --seeds 5
 */

import { print } from '../../supabase/local/print.ts'
import { newSeed, Random } from '../concurrency/_support/random.ts'
import { firstError, playSteps } from './chaos/acts.ts'
import { tellViolations } from './chaos/checker.ts'
import { allOver, type Step } from './chaos/fault.ts'
import { settle } from './chaos/observe.ts'
import { planRounds, tellSteps } from './chaos/plan.ts'
import { evidenceFile } from './chaos/play.ts'
import { checkSpread } from './spread/evidence.ts'
import { spreadFaults } from './spread/faults.ts'
import { Operator, untilEmpty } from './spread/operator.ts'
import { type SpreadWorld, startSpreadWorld } from './spread/world.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const minutes = Number(Deno.env.get('OUTHOOK_SOAK_MINUTES') ?? (isShort ? 0.5 : 10))
const firstSeed = Number(Deno.env.get('OUTHOOK_SOAK_SEED') ?? newSeed())
const count = Number(Deno.env.get('OUTHOOK_SOAK_SEEDS') ?? 1)

/** The faults of a round. The operator takes longer. */
const ROUND_MS = isShort ? 20_000 : 40_000
const LARGEST_GAP_MS = 4_000
/** After the last fault, everything must end within this. */
const BOUND_MS = 90_000

for (let seed = firstSeed; seed < firstSeed + count; seed++) {
  Deno.test({
    name:
      `an organisation is spread over databases through ${minutes} minutes of faults (seed ${seed})`,
    // Dead connections of drivers may end later than the test.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () =>
      play(seed).catch((error) => {
        throw firstError(error)
      }),
  })
}

async function play(seed: number): Promise<void> {
  const deadline = performance.now() + minutes * 60_000
  await using world = await startSpreadWorld(seed)
  const operator = new Operator(world, new Random(seed))
  const done = new Map<string, number>()
  const kinds = Object.keys(spreadFaults)
  for (const steps of planRounds({ seed, roundMs: ROUND_MS, kinds, gapMs: LARGEST_GAP_MS })) {
    await playRound(world, operator, steps, seed)
    for (const { kind } of steps) done.set(kind, (done.get(kind) ?? 0) + 1)
    const { ledger: { publications, arrivals } } = world
    print(
      `  ${publications.length} events, ${arrivals.length} requests, ${operator.runs} runs of ` +
        `spread-org, ${operator.moved} moves, killed ${
          [...operator.kills].map(([moment, n]) => `${n} ${moment}`).join(', ') || 'never'
        }`,
    )
    if (performance.now() > deadline) break
  }
  print(`  seed ${seed}: ${[...done].map(([kind, n]) => `${n} ${kind}`).join(', ')}`)
}

/** A database is added and one is emptied while faults happen. Then all must end, and be right. */
async function playRound(
  world: SpreadWorld,
  operator: Operator,
  steps: Step[],
  seed: number,
): Promise<void> {
  world.publishers.resume()
  if (operator.runs === 0) await operator.begin()
  const { died } = world.consumers
  try {
    await allOver([
      playSteps(steps, async ({ kind, ms, seed }) => {
        await spreadFaults[kind]?.({ world, ms, random: new Random(seed) })
      }),
      operator.add().then(() => operator.remove()),
    ])
    await rest(world)
  } catch (cause) {
    throw new Error(`Seed ${seed}:\n${[...died, tellSteps(steps)].join('\n')}`, { cause })
  }
  const { evidence, violations } = await checkSpread(world, operator.active)
  if (violations.length === 0) return
  await Deno.writeTextFile(evidenceFile, JSON.stringify(evidence))
  throw new Error(
    `Seed ${seed} (${evidenceFile} has the evidence): ${tellViolations(violations)}\n` +
      `The faults of this round:\n${tellSteps(steps)}`,
  )
}

/** Publishers pause until all has ended. */
async function rest(world: SpreadWorld): Promise<void> {
  const { source, targets, publishers } = world
  await publishers.pause()
  await settle(source.server, BOUND_MS)
  await untilEmpty(world, ['outhook', ...[...targets.keys()].map((name) => `outhook.${name}`)])
  for (const { server } of targets.values()) await settle(server, BOUND_MS)
}
