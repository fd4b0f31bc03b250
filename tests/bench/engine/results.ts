/** What the measurements of the engine found, as a table of verdicts and as files. */

import { join } from 'node:path'
import type { Machine } from '../report/machine.ts'
import { machineName, resultsDir } from '../report/results.ts'
import { format, toTable, toTextTable } from '../report/table.ts'
import { type Finding, type Size, verdictOn } from './measurement.ts'

/** A measurement that was taken, or the problem that it had. */
export interface Taken extends Finding {
  name: string
  title: string
  size: Size
  seconds: number
  problem: string | null
  /** When it ended, in UTC. */
  at: string
  commit: string
  command: string
  /** The load average of the machine before it; absent in older results. */
  load?: number
}

/** What is known of one machine, in one file: each measurement as it was last taken there. */
export interface EngineResults {
  machine: Machine
  taken: Taken[]
}

/** These with those of before that were not taken again, in the order of `names`. */
export function mergeTaken(
  names: readonly string[],
  before: readonly Taken[],
  taken: readonly Taken[],
): Taken[] {
  return names.flatMap((name) => [...taken, ...before].find((one) => one.name === name) ?? [])
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
  return toTextTable([['', 'figure', 'value', 'target', 'verdict'], ...lines])
}

/** Everything as a page. */
export function toPage({ machine, taken }: EngineResults): string {
  return [
    '# The engine, measured',
    `On ${machine.cores} cores of ${machine.cpu} with ${machine.memoryGb} GB (${machine.system}). ` +
    'Each part says when and how it was measured.',
    toVerdicts(taken),
    ...taken.filter(({ problem }) => problem === null).flatMap((one) => [
      `## ${one.title}`,
      toTable(one),
      `${one.note}.`,
      `Measured on ${one.at.slice(0, 10)}, at commit ${one.commit}, by \`${one.command}\`, in ` +
      `${one.seconds} s${one.size === 'small' ? ', small' : ''}${loadText(one.load)}.`,
    ]),
  ].join('\n\n') + '\n'
}

function loadText(load: number | undefined): string {
  return load === undefined ? '' : `, with a load average of ${load.toFixed(1)} before it`
}

const engineDir = join(resultsDir, 'engine')

/** What is kept of this machine; nothing where nothing is. */
export async function readTaken(machine: Machine, folder = engineDir): Promise<Taken[]> {
  try {
    const text = await Deno.readTextFile(join(folder, `${machineName(machine)}.json`))
    // SAFETY: writeEngineResults() wrote it.
    return (JSON.parse(text) as EngineResults).taken
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []
    throw error
  }
}

/** Writes the page and the JSON; gives their paths within the project. */
export async function writeEngineResults(
  results: EngineResults,
  folder = engineDir,
): Promise<string[]> {
  await Deno.mkdir(folder, { recursive: true })
  const name = machineName(results.machine)
  await Deno.writeTextFile(join(folder, `${name}.json`), JSON.stringify(results, null, 2) + '\n')
  await Deno.writeTextFile(join(folder, `${name}.md`), toPage(results))
  return ['json', 'md'].map((ending) => `tests/bench/results/engine/${name}.${ending}`)
}
