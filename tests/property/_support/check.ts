/** Plays random scripts and tells of the first that breaks a rule, in its shortest form. */

import * as fc from 'fast-check'
import { messageOf } from '../../../supabase/local/errors.ts'
import { followTrace } from './follow.ts'
import { type Script, scripts } from './script.ts'
import { startWorld, type World } from './world.ts'

/** The environment variables that repeat a run: its seed, and the path to one script of it. */
export const SEED = 'OUTHOOK_PROPERTY_SEED'
export const PATH = 'OUTHOOK_PROPERTY_PATH'

/** How much is played. */
export interface Amount {
  sequences: number
  /** Steps a sequence has at most, before the recovery at its end. */
  steps: number
  /** Of the first server; the second takes the next one. */
  seed: number
}

/** Two servers play at the same time, each half of the sequences under a seed of its own. */
const WORLDS = 2
/** After the last step everything must be over within so many rounds of one dispatch() call each. */
const ROUNDS = 80

/** The seed under CI, whose verdict on a commit must not depend on chance. */
const CI_SEED = 2026

/** The seed that the environment gives, else a fixed one under CI and any other elsewhere. */
export function chooseSeed(): number {
  const given = Deno.env.get(SEED)
  if (given !== undefined) return Number(given)
  if (Deno.env.get('CI') !== undefined) return CI_SEED
  return crypto.getRandomValues(new Uint16Array(1))[0] ?? 0
}

/** Plays them all; throws an error that shows the shortest failing script and how to repeat it. */
export async function playSequences({ sequences, steps, seed }: Amount): Promise<void> {
  const path = Deno.env.get(PATH)
  if (path !== undefined) return await playHalf(seed, 1, steps, path)
  const half = Math.ceil(sequences / WORLDS)
  const halves = Array.from({ length: WORLDS }, (_, n) => playHalf(seed + n, half, steps))
  const failed = (await Promise.allSettled(halves)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

async function playHalf(seed: number, runs: number, steps: number, path?: string): Promise<void> {
  await using world = await startWorld()
  const property = fc.asyncProperty(scripts(steps), async (script) => {
    const problems = await problemsOf(world, script)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  const result = await fc.check(property, {
    seed,
    numRuns: runs,
    ...path === undefined ? {} : { path },
  })
  const script = result.counterexample?.[0]
  if (!result.failed || script === undefined) return
  throw new Error(
    [
      `After ${result.numShrinks} reductions the shortest sequence that fails:`,
      ...script.endpoints.map((endpoint, n) => `  endpoint ${n} ${JSON.stringify(endpoint)}`),
      ...script.steps.map((step, n) => `  step ${n} ${JSON.stringify(step)}`),
      ...await problemsOf(world, script),
      `Again: ${SEED}=${seed} ${PATH}=${result.counterexamplePath}`,
    ].join('\n'),
  )
}

async function problemsOf(world: World, script: Script): Promise<string[]> {
  try {
    return followTrace(script.endpoints, await world.play(script, ROUNDS))
  } catch (error) {
    return [`a step raised ${messageOf(error)}`]
  }
}
