import type { Filter } from './selection.ts'
import type { Tally } from './tally.ts'

/** What every step gets: where it is, what was asked for and which mark its processes carry. */
export interface StepContext {
  root: string
  filter: Filter
  /** Whether what stands in `behind_all.ts` runs too. */
  all: boolean
  /** Whether the time of each test is wanted. */
  slow: boolean
  mark: string
  /** Environment for all that the steps start. */
  env: Record<string, string>
}

/** How long a file or a test took. */
export interface Timed {
  name: string
  seconds: number
}

/** What came of a part: its counts, what there is to print of it, and the times of its tests. */
export interface PartResult {
  counts: Tally
  /** Empty when there is nothing to tell. */
  output: string
  /** The cause of each failure with its file, for the list at the end of the run. */
  causes: readonly string[]
  files: Timed[]
  tests: Timed[]
}

/** What runs in one piece, beside a part of the same step or of another one. */
export interface Part {
  /** Names it in the step: a file, or the number of files. */
  name: string
  /** The test files; empty for a command. */
  files: readonly string[]
  /** The version of the Deno that runs them, if it is not the one that runs us. */
  deno?: string
  /** Measures what other work on the machine would disturb; runs by itself, after the others. */
  alone?: boolean
  /** Waits most of its time: runs beside the parts that keep the cores busy. */
  waits?: boolean
  /** Runs it, with this environment for all that it starts. */
  run(env: Record<string, string>): Promise<PartResult>
}

/** One line of the run. Without a part the filter left nothing to do. */
export interface Step {
  name: string
  /** Whether a line is printed for each part: for steps of many minutes. */
  eachPart?: boolean
  parts(context: StepContext): Promise<Part[]>
}
