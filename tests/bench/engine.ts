/** `deno task bench:engine`: everything that the engine promises in figures, one after the other. */

import { beside } from './beside.ts'
import { breakers } from './breakers.ts'
import { dispatch } from './dispatch.ts'
import { runMeasurements } from './engine/command.ts'
import { idle } from './idle.ts'
import { memory } from './memory.ts'
import { organisations } from './organisations.ts'
import { pinned } from './pinned.ts'
import { publishing } from './publishing.ts'
import { steps } from './steps.ts'
import { waking } from './waking.ts'

/** Runs the command with the arguments of this process. */
export const main = (): Promise<never> =>
  runMeasurements('deno task bench:engine', [
    idle,
    waking,
    publishing,
    steps,
    memory,
    dispatch,
    breakers,
    beside,
    organisations,
    pinned,
  ])

if (import.meta.main) await main()
