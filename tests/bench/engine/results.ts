/** What the measurements of the engine found, as a table of verdicts and as files. */

import { join } from 'node:path'
import type { Machine } from '../report/machine.ts'
import { resultsDir, resultsName } from '../report/results.ts'
import { format, toTable } from '../report/table.ts'
import { type Finding, type Size, verdictOn } from './measurement.ts'

/** A measurement that was taken, or the problem that it had. */
export interface Taken extends Finding {
  name: string
  title: string
  size: Size
  seconds: number
  problem: string | null
}

export interface EngineResults {
  /** When it ended, in UTC. */
  at: string
  commit: string
  command: string
  machine: Machine
  taken: Taken[]
}

/** What a command ends with: a missed target is a result, a problem is none. */
export function exitCodeOf(taken: readonly Taken[]): number {
  return taken.some(({ problem }) => problem !== null) ? 1 : 0
}

/** Three digits that count, or more before the point. */
function digitsOf(value: number): number {
  return Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
}

/** One line for each target, and for each problem. */
export function toVerdicts(taken: readonly Taken[]): string {
  const lines = taken.flatMap(({ name, targets, problem }) => [
    ...targets.map((target) => [
      name,
      target.what,
      `${format(target.value, digitsOf(target.value))} ${target.unit}`.trim(),
      `≤ ${target.atMost} ${target.unit}`.trim(),
      verdictOn(target),
    ]),
    ...problem === null ? [] : [[name, problem, '', '', 'PROBLEM']],
  ])
  const head = ['', 'figure', 'value', 'target', 'verdict']
  const widths = head.map((text, n) =>
    Math.max(3, text.length, ...lines.map((line) => line[n]?.length ?? 0))
  )
  const row = (cells: string[]): string =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [row(head), row(widths.map((width) => '-'.repeat(width))), ...lines.map(row)].join('\n')
}

/** Everything as a page. */
export function toPage(results: EngineResults): string {
  const { at, commit, command, machine, taken } = results
  return [
    '# The engine, measured',
    `On ${
      at.slice(0, 10)
    }, at commit ${commit}, on ${machine.cores} cores of ${machine.cpu} with ` +
    `${machine.memoryGb} GB (${machine.system}), by \`${command}\`.`,
    toVerdicts(taken),
    ...taken.filter(({ problem }) => problem === null).flatMap((one) => [
      `## ${one.title}`,
      toTable(one),
      `${one.note}. It took ${one.seconds} s${one.size === 'small' ? ', small' : ''}.`,
    ]),
  ].join('\n\n') + '\n'
}

/** Writes the page and the JSON; gives their paths within the project. */
export async function writeEngineResults(
  results: EngineResults,
  folder = join(resultsDir, 'engine'),
): Promise<string[]> {
  await Deno.mkdir(folder, { recursive: true })
  const name = resultsName(results)
  await Deno.writeTextFile(join(folder, `${name}.json`), JSON.stringify(results, null, 2) + '\n')
  await Deno.writeTextFile(join(folder, `${name}.md`), toPage(results))
  return ['json', 'md'].map((ending) => `tests/bench/results/engine/${name}.${ending}`)
}
