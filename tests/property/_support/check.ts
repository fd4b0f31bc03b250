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
  /** What a person types to play this again, without the variables. */
  command: string
}

/** What is played on one server. */
export interface Play extends Amount {
  /** To one script of the seed, which is then all that is played. */
  path?: string
  /** Gets a line at once when a sequence fails, since to shorten it may take minutes. */
  say: (line: string) => void
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
export async function playSequences(amount: Amount, say: (line: string) => void): Promise<void> {
  const path = Deno.env.get(PATH)
  if (path !== undefined) return await playHalf({ ...amount, path, say })
  const half = { ...amount, sequences: Math.ceil(amount.sequences / WORLDS), say }
  const halves = Array.from(
    { length: WORLDS },
    (_, n) => playHalf({ ...half, seed: amount.seed + n }),
  )
  const failed = (await Promise.allSettled(halves)).filter(({ status }) => status === 'rejected')
  if (failed.length > 0) {
    throw new Error(
      failed.map((half) => half.status === 'rejected' ? messageOf(half.reason) : '').join('\n\n'),
    )
  }
}

/** A failure of the server itself shows how to repeat it as well: its seed may be to blame. */
async function playHalf(play: Play): Promise<void> {
  try {
    await using world = await startWorld()
    const failure = await findFailure(world, play)
    if (failure !== null) throw new Error(failure)
  } catch (error) {
    const message = messageOf(error)
    if (message.includes(`${SEED}=`)) throw error
    throw new Error(`${message}\n${again(play)}`, { cause: error })
  }
}

/** Plays on one server; gives what there is to tell of the first sequence that fails, or null. */
export async function findFailure(world: World, play: Play): Promise<string | null> {
  const { sequences, steps, seed, path, say } = play
  let first: string[] = []
  const property = fc.asyncProperty(scripts(steps), async (script) => {
    const problems = await problemsOf(world, script)
    if (problems.length === 0) return
    if (first.length === 0) {
      first = problems
      say(`A sequence fails and is being shortened; ${again(play)}\n${problems.join('\n')}`)
    }
    throw new Error(problems.join('\n'))
  })
  const result = await fc.check(property, {
    seed,
    numRuns: path === undefined ? sequences : 1,
    ...path === undefined ? {} : { path },
  })
  const script = result.counterexample?.[0]
  if (!result.failed || script === undefined) return null
  const problems = await problemsOf(world, script)
  return [
    `After ${result.numShrinks} reductions the shortest sequence that fails:`,
    ...show(script),
    ...problems.length > 0
      ? problems
      : ['Played once more it passes: chance or time has a part in it. It failed with:', ...first],
    again(play, result.counterexamplePath ?? undefined),
  ].join('\n')
}

function show({ endpoints, steps }: Script): string[] {
  return [
    ...endpoints.map((endpoint, n) => `  endpoint ${n} ${JSON.stringify(endpoint)}`),
    ...steps.map((step, n) => `  step ${n} ${JSON.stringify(step)}`),
  ]
}

function again({ seed, command }: Play, path?: string): string {
  return `Again: ${SEED}=${seed} ${path === undefined ? '' : `${PATH}=${path} `}${command}`
}

async function problemsOf(world: World, script: Script): Promise<string[]> {
  try {
    return followTrace(script.endpoints, await world.play(script, ROUNDS))
  } catch (error) {
    return [`a step raised ${messageOf(error)}`]
  }
}
