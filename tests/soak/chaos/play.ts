import { join } from 'node:path'
import { print } from '../../../supabase/local/print.ts'
import { messageOf } from '../../../supabase/local/errors.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { Random } from '../../concurrency/_support/random.ts'
import { playSteps } from './acts.ts'
import { canMoveClocks } from './clock.ts'
import type { Violation } from './evidence.ts'
import type { Step } from './fault.ts'
import { clockFaults } from './faults/clock.ts'
import { diskFaults } from './faults/disk.ts'
import { judge } from './judge.ts'
import { observe, settle } from './observe.ts'
import { faults, planRounds } from './plan.ts'
import { startWorld, type World } from './world.ts'

/** After the last fault, everything must end within this. Leases take 7 s, and a lost lease another one. */
const BOUND_MS = 90_000

/** Where the evidence of the last broken promise is. */
export const evidenceFile = join(projectRoot, '.outhook/chaos.json')

/**
 * After this, each count is in the counters: what a transaction of more than 15 s counted is added up once a
 * minute (see fold_counters).
 */
const COUNTED_MS = 80_000

/** How a round ended. */
export interface Round {
  steps: Step[]
  violations: Violation[]
  settledMs: number
}

/** All that was done. */
export interface Played {
  rounds: Round[]
  /** How often each kind was done. */
  done: Map<string, number>
  events: number
  arrivals: number
  /** The longest time after the last fault of a round until all had ended. */
  settledMs: number
}

/** Plays rounds of faults for `minutes`, or until a promise is broken. */
export async function playRounds(
  { seed, minutes, roundMs = 45_000 }: { seed: number; minutes: number; roundMs?: number },
): Promise<Played> {
  const deadline = performance.now() + minutes * 60_000
  await using world = await startWorld(seed)
  const played: Played = { rounds: [], done: new Map(), events: 0, arrivals: 0, settledMs: 0 }
  const kinds = kindsFor(world)
  for (const steps of planRounds({ seed, roundMs, kinds })) {
    const round = await playRound(world, steps)
    played.rounds.push(round)
    for (const { kind } of steps) played.done.set(kind, (played.done.get(kind) ?? 0) + 1)
    played.events = world.ledger.publications.length
    played.arrivals = world.ledger.arrivals.length
    const { violations, settledMs } = round
    played.settledMs = Math.max(played.settledMs, settledMs)
    print(
      `  round ${played.rounds.length}: ${steps.length} faults, ${played.events} events, ` +
        `${played.arrivals} requests, over ${settledMs} ms after the last fault, ` +
        `${violations.length} promises broken`,
    )
    if (violations.length > 0 || performance.now() > deadline) break
  }
  return played
}

/** Plays one sequence in a world of its own. */
export async function playOnce(seed: number, steps: readonly Step[]): Promise<Violation[]> {
  await using world = await startWorld(seed)
  return (await playRound(world, [...steps])).violations
}

/**
 * Does each of these kinds with each of these seeds while nothing else happens, and tells what the database refused.
 */
export async function refusedAtRest(
  kinds: readonly string[],
  seeds: readonly number[],
): Promise<[string, unknown][]> {
  await using world = await startWorld(1)
  const someArrived = (): boolean => world.ledger.arrivals.length > 200
  await waitUntil(someArrived, { timeoutMs: BOUND_MS })
  await world.publishers.pause()
  const refused: [string, unknown][] = []
  for (const kind of kinds) {
    for (const seed of seeds) {
      world.server.problem = null
      await act(world, { kind, at: 0, ms: 20, seed })
      if (world.server.problem !== null) {
        refused.push([`${kind} (seed ${seed})`, world.server.problem])
      }
    }
  }
  return refused
}

/** The kinds that this machine can do. */
function kindsFor({ disk }: World): string[] {
  return Object.keys(faults).filter((kind) =>
    (disk.isOwn || !(kind in diskFaults)) && (canMoveClocks || !(kind in clockFaults))
  )
}

async function playRound(world: World, steps: Step[]): Promise<Round> {
  world.publishers.resume()
  await playSteps(steps, (step) => act(world, step))
  await world.server.inTurn(() => world.server.up())
  await world.publishers.pause()
  const over = performance.now()
  await settle(world.server, BOUND_MS)
  const settledMs = Math.round(performance.now() - over)
  const { evidence, violations } = await judge(() => observe(world), {
    timeoutMs: COUNTED_MS,
    everyMs: 2_000,
  })
  if (violations.length > 0) await Deno.writeTextFile(evidenceFile, JSON.stringify(evidence))
  return { steps, violations, settledMs }
}

async function act(world: World, { kind, ms, seed }: Step): Promise<void> {
  try {
    await faults[kind]?.({ world, ms, random: new Random(seed) })
  } catch (error) {
    throw new Error(`The fault "${kind}" (${ms} ms, ${seed}) failed: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
