import type { Filter } from './selection.ts'
import type { Tally } from './tally.ts'

/** What every step gets: where it is, what was asked for and which mark its processes carry. */
export interface StepContext {
  root: string
  filter: Filter
  mark: string
  /** Environment for all that the step starts. */
  env: Record<string, string>
}

/** One line of the run. A null result means that the filter left nothing to do. */
export interface Step {
  name: string
  run(context: StepContext): Promise<Tally | null>
}
