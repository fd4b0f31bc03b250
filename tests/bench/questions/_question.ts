/** What a question of the bench is, and what its answer looks like. */

import type { Bench } from '../run/bench.ts'
import type { SideSpec } from '../sides/catalog.ts'

export interface Plan {
  quick: boolean
  /** Those that were chosen. */
  sides: SideSpec[]
  /** Given by the caller instead of the question's own. */
  rounds?: number
  events?: number
  /** How long a saturated round of `sustained` lasts. */
  seconds?: number
}

export interface Column {
  key: string
  label: string
  /** Digits after the point. */
  digits: number
}

export interface Row {
  /** What is measured. */
  series: string
  /** Under which load or size, where there are several. */
  at?: string
  values: Record<string, number | null>
}

export interface Answer {
  /** What the figures are, in a sentence. */
  note: string
  columns: Column[]
  rows: Row[]
  /** The column that the chart shows; bars for single values, lines where rows have an `at`. */
  chart: string
  /** Also on the chart, where a logarithmic scale tells more. */
  isLog?: boolean
  /** What did not work and is therefore missing. */
  problems: string[]
}

export interface Question {
  name: string
  title: string
  /** Left out of a quick run, unless it is asked for. */
  isLong?: boolean
  run(bench: Bench, plan: Plan): Promise<Answer>
}
