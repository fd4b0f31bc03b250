import type { Timed } from './step.ts'

/** How long a step took: from its first part's begin to its last one's end, and all parts added up. */
export interface StepTime {
  name: string
  clock: number
  work: number
}

/** How many of the slowest tests, and of the slowest files, a list shows. */
const SLOWEST = 30

/** Seconds as a person reads them: `9.3 s`, `4 min 05 s`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}

/** The table of the steps' times, and the whole. */
export function timesOf(steps: readonly StepTime[], whole: number): string {
  const work = steps.reduce((sum, step) => sum + step.work, 0)
  const rows = [
    ['', 'by the clock', 'of all parts'],
    ...[...steps, { name: 'in all', clock: whole, work }]
      .map((step) => [step.name, duration(step.clock), duration(step.work)]),
  ]
  return table(rows)
}

/** The slowest of these, slowest first. */
export function slowestOf(what: string, timed: readonly Timed[]): string {
  const sorted = [...timed].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  const lines = sorted.map(({ name, seconds }) => `${duration(seconds).padStart(12)}  ${name}\n`)
  return `The slowest ${what}:\n${lines.join('')}`
}

function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  )
  return rows.map(([name = '', ...times]) =>
    [name.padEnd(widths[0] ?? 0), ...times.map((time, n) => time.padStart(widths[n + 1] ?? 0))]
      .join('  ') + '\n'
  ).join('')
}
