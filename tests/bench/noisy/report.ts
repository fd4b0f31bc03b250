/** What was measured of one part of the noise, in words and as a table. */

import type { Finding } from '../engine/measurement.ts'
import { percentile } from '../run/stats.ts'
import type { Shares } from './cpu.ts'
import { ARRIVAL_MS } from './options.ts'
import { endpointsOf } from './organisation.ts'
import type { Part } from './parts.ts'

/** How much later the quiet organisation's events may arrive, at p99. */
export const RATIO = 1.5

/** Times from commit to arrival of the quiet organisation in ms, and the CPU in use meanwhile. */
export type Measured = { times: number[]; shares: Shares; stages: string }

/** What was measured, in this order; `after`: when all work of the noise was removed. */
export type Series = Record<'without' | 'beside' | 'after' | 'control', Measured>

const names: Record<keyof Series, string> = {
  without: 'without the noise',
  beside: 'with the noise',
  after: 'after the noise',
  control: 'control',
}

/** How p99 of one series compares with that of another one. */
export function ratio(more: Measured, less: Measured): number {
  return percentile(more.times, 99) / percentile(less.times, 99)
}

/** One series in a line. */
export function lineOf(series: keyof Series, { times, shares }: Measured): string {
  const late = times.filter((ms) => ms >= ARRIVAL_MS).length
  return `${names[series]}: p99 ${percentile(times, 99).toFixed(1)} ms, processors in use: ` +
    `${shares.postgres.toFixed(2)} by Postgres, ${shares.others.toFixed(2)} by others` +
    (late === 0 ? '' : `; ${late} events had not arrived after ${ARRIVAL_MS / 1000} s`)
}

/** The table and the targets of a part. `answers`: how often each route of the API returned which status. */
export function findingOf(
  part: Part,
  series: Series,
  answers: Record<string, number>,
  how: { seconds: number; endpoints: number; rate: number; pieceMs: number },
): Finding {
  const percents = [50, 95, 99, 100]
  const times = percents.map((percent) => ({
    key: `p${percent}`,
    label: percent === 100 ? 'most ms' : `p${percent} ms`,
    digits: 1,
  }))
  const p99 = 'p99 from commit to arrival with the noise, as a multiple of that'
  const { without, beside, control } = series
  return {
    note: noteOf(part, how),
    columns: [
      ...times,
      { key: 'postgres', label: 'processors, Postgres', digits: 2 },
      { key: 'others', label: 'processors, others', digits: 2 },
    ],
    // SAFETY: the keys of the table of names are those of the series.
    rows: (Object.keys(names) as (keyof Series)[]).map((name) => ({
      series: names[name],
      values: {
        ...Object.fromEntries(percents.map((p) => [`p${p}`, percentile(series[name].times, p)])),
        ...series[name].shares,
      },
    })),
    targets: [
      { what: `${p99} without it`, unit: '×', atMost: RATIO, value: ratio(beside, without) },
      {
        what: `${p99} beside the control`,
        unit: '×',
        atMost: RATIO,
        value: ratio(beside, control),
      },
      { what: 'responses of the API with 500', unit: '', atMost: 0, value: failures(answers) },
    ],
  }
}

function noteOf(
  part: Part,
  { seconds, endpoints, rate, pieceMs }: Parameters<typeof findingOf>[3],
): string {
  return `${seconds} s at ${rate} events a second each, one worker. ${part.title}. The noisy organisation has ` +
    `${endpointsOf(part, endpoints)} endpoints and ${part.loops.length} loops ` +
    `(${
      part.loops.join(', ')
    }), at its rate. Control: as much CPU time as the noise takes, by statements ` +
    `of ${pieceMs} ms and other processes that have nothing to do with Outhook`
}

/** How many responses have the status 500. */
function failures(answers: Record<string, number>): number {
  return Object.entries(answers).filter(([answer]) => answer.endsWith(' 500'))
    .reduce((sum, [, times]) => sum + times, 0)
}
