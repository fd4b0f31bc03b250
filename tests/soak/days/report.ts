/** The figures of a day as one row of a table. */

import type { DayFigures } from './figures.ts'

/** The tables whose sizes the row has; the checker judges all. */
const SHOWN = ['event', 'attempt', 'delivery', 'lane', 'idempotency_key', 'dead_letter'] as const

export const DAY_HEAD = `| day | delivered | retries | held | latest, s | ${
  SHOWN.join(' | ')
} | all | dead rows | partitions |
| --: | --: | --: | --: | --: | ${SHOWN.map(() => '--:').join(' | ')} | --: | --: | --: |`

export function tellDay({ day, ledger, retries, tables }: DayFigures): string {
  const all = Object.values(tables)
  const dead = all.reduce((sum, table) => sum + table.dead, 0)
  const partitions = all.reduce((sum, table) => sum + table.partitions, 0)
  const sizes = SHOWN.map((name) => megabytes([tables[name]]))
  const cells = [
    ...[day, ledger.accepted, retries.checked, retries.held, retries.worst_s.toFixed(1)],
    ...[...sizes, megabytes(all), dead, partitions],
  ]
  return `| ${cells.join(' | ')} |`
}

/** What a run simulated in how much time of this machine. */
export function tellPace(
  { scale, days, accepted, wall_s }: {
    scale: number
    days: number
    accepted: number
    wall_s: number
  },
): string {
  const rate = Math.round(accepted / Math.max(wall_s, 0.1))
  return `scale 1/${scale}, day ${days}: ${accepted} deliveries in ${
    wall_s.toFixed(0)
  } s, ${rate}/s`
}

/** Tables with their indexes in MB. */
function megabytes(tables: readonly ({ heap: number; indexes: number } | undefined)[]): string {
  const bytes = tables.reduce((sum, table) => sum + (table?.heap ?? 0) + (table?.indexes ?? 0), 0)
  return (bytes / 1024 / 1024).toFixed(1)
}
