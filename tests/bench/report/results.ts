/** The results of a run as a file, and the files that are made from it. */

import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import type { Answer } from '../questions/_question.ts'
import { toSvg } from './chart.ts'
import type { Machine } from './machine.ts'
import { summaryChart, toSummarySvg } from './summary_chart.ts'

export interface NamedAnswer extends Answer {
  name: string
  title: string
}

export interface Results {
  /** When it began, in UTC. */
  at: string
  minutes: number
  commit: string
  /** The load average of the machine before the first question; absent in older results. */
  load?: number
  command: string
  machine: Machine
  versions: Record<string, string>
  /** What the Postgres server said of its settings. */
  postgres: Record<string, string>
  /** The settings that each side ran with. */
  tuning: Record<string, Record<string, number>>
  answers: NamedAnswer[]
}

export const resultsDir = join(projectRoot, 'tests', 'bench', 'results')

/** `2026-11-28-amd-epyc`: of one machine and day there is one file. */
export function resultsName({ at, machine }: Pick<Results, 'at' | 'machine'>): string {
  return `${at.slice(0, 10)}-${machineName(machine)}`
}

/** `amd-epyc`: the CPU in words of a file's name. */
export function machineName({ cpu }: Machine): string {
  return cpu.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
}

/** The files of a run by their names: all of it as JSON, and a chart for each question. */
export function resultsFiles(results: Results): Map<string, string> {
  const name = resultsName(results)
  const files = new Map([[`${name}.json`, JSON.stringify(results, null, 2) + '\n']])
  for (const answer of results.answers) {
    if (answer.rows.length > 0) files.set(chartName(answer), toSvg(answer))
    if (answer.name === 'throughput') files.set(summaryChart.file, toSummarySvg(answer))
  }
  return files
}

/** One chart a question, of the newest run. */
export function chartName({ name }: { name: string }): string {
  return `${name}.svg`
}

/** Writes them all. */
export async function writeResults(results: Results, folder = resultsDir): Promise<void> {
  await Deno.mkdir(folder, { recursive: true })
  for (const [name, text] of resultsFiles(results)) {
    await Deno.writeTextFile(join(folder, name), text)
  }
}

/** The newest run that is kept; null without one. */
export async function readNewest(folder = resultsDir): Promise<Results | null> {
  const names: string[] = []
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith('.json')) names.push(name)
  }
  const newest = names.sort().at(-1)
  if (newest === undefined) return null
  // SAFETY: writeResults() wrote it, and the test that makes the pages from it would tell.
  return JSON.parse(await Deno.readTextFile(join(folder, newest))) as Results
}
