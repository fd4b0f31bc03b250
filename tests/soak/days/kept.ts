/** The figures of runs that are kept as JSON: of the last one, and of those without a part of the upkeep. */

import type { DayFigures } from './figures.ts'
import type { Without } from './world.ts'

export interface KeptDays {
  scale: number
  /** Deliveries of one day. */
  perDay: number
  seed: number
  without: Without
  /** How long the whole run took, in seconds; absent in older figures. */
  wall_s?: number
  days: DayFigures[]
}

const name = Deno.env.get('OUTHOOK_SOAK_WITHOUT')
/** What this run leaves out: OUTHOOK_SOAK_WITHOUT is `cleanup` or `vacuum`. */
export const without: Without = name === 'cleanup' || name === 'vacuum' ? name : null

/** Where the figures of a run are kept. */
export function keptFile(of: Without): URL {
  return new URL(`figures/${of === null ? 'last' : `without_${of}`}.json`, import.meta.url)
}

/** Keeps the figures if OUTHOOK_SOAK_RECORD is 1. */
export async function keep(run: KeptDays): Promise<void> {
  if (Deno.env.get('OUTHOOK_SOAK_RECORD') !== '1') return
  await Deno.mkdir(new URL('figures/', import.meta.url), { recursive: true })
  const { days, ...of } = run
  // One line for each day.
  const lines = days.map((day) => JSON.stringify(day)).join(',\n')
  const text = `${JSON.stringify(of).slice(0, -1)},"days":[\n${lines}\n]}\n`
  await Deno.writeTextFile(keptFile(run.without), text)
}

export async function readKept(of: Without): Promise<KeptDays> {
  return JSON.parse(await Deno.readTextFile(keptFile(of)))
}
