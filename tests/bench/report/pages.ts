/** What is written of the newest results: the figures in the README, all of them in docs/. */

import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { chartName, type NamedAnswer, type Results, resultsName } from './results.ts'
import { toTable } from './table.ts'
import { summaryChart } from './summary_chart.ts'
import { toTargets } from './targets.ts'
import { winnersOf } from './winner.ts'

/** A page with a part that is made from results. */
export interface Page {
  path: string
  /** What that part is, for these results. */
  section(results: Results): string
  /** The part as the page has it now. */
  read(): Promise<string>
  /** Puts the part for these results in its place. */
  write(results: Results): Promise<void>
}

export const pages: Page[] = [
  page('README.md', 'bench summary', summary),
  page('docs/performance.md', 'bench', everything),
]

/** Writes the parts for these results into all pages. */
export async function writePages(results: Results): Promise<void> {
  for (const { write } of pages) await write(results)
}

function page(path: string, name: string, section: Page['section']): Page {
  const file = join(projectRoot, path)
  const begin = `<!-- ${name}: written by \`deno task bench\` -->`
  const end = `<!-- /${name} -->`
  async function split(): Promise<[before: string, inner: string, after: string]> {
    const text = await Deno.readTextFile(file)
    const from = text.indexOf(begin) + begin.length
    const to = text.indexOf(end)
    if (from < begin.length || to < from) {
      throw new Error(`${path} lost its marks ${begin} and ${end}`)
    }
    return [text.slice(0, from), text.slice(from, to), text.slice(to)]
  }
  return {
    path,
    section,
    read: async () => (await split())[1].trim(),
    write: async (results) => {
      const [before, , after] = await split()
      await Deno.writeTextFile(file, `${before}\n\n${section(results)}\n\n${after}`)
    },
  }
}

function everything(results: Results): string {
  const name = `${resultsName(results)}.json`
  return [
    `Measured on ${machine(results)}, ${provenance(results)}`,
    `All systems with Postgres use one server with ${listed(results.postgres)}. ` +
    `Every number is in [${name}](../tests/bench/results/${name}).`,
    'The last column of a table names the winner of the row, among the durable queues and the plain table: `undici` ' +
    'and `fetch` have no queue, and `everysec` may lose what it confirmed.',
    '## Targets',
    toTargets(results),
    ...results.answers.flatMap(part),
  ].join('\n\n')
}

/** By which command, how long it took, at which commit, and of what. */
function provenance({ command, minutes, commit, versions }: Results): string {
  return `by \`${command}\` in ${minutes} minutes, at commit ${commit}, with ${listed(versions)}.`
}

function listed(all: Record<string, string>): string {
  return Object.entries(all).map(([name, value]) => `${name} ${value}`).join(', ')
}

/** The columns that the README shows. */
const shownColumns = ['perSecond', 'toUndici', 'peakMb']

/** Series that the README leaves to docs/performance.md. */
const leftOut = /^fetch|everysec$/

function summary(results: Results): string {
  const throughput = results.answers.find(({ name }) => name === 'throughput')
  if (throughput === undefined) throw new Error('The newest results have no throughput')
  const columns = throughput.columns.filter(({ key }) => shownColumns.includes(key))
  const rows = throughput.rows.filter(({ series }) => !leftOut.test(series))
  return [
    `Measured on ${machine(results)}, ${provenance(results)}`,
    `![${summaryChart.title}](tests/bench/results/${summaryChart.file})`,
    toTable({ columns, rows }, winnersOf({ ...throughput, rows })),
    toTargets(results),
  ].join('\n\n')
}

/** When and on what: `2026-11-28 on 2 cores of …, everything on one machine`. */
function machine({ at, machine, load }: Results): string {
  const { cores, cpu, memoryGb, system } = machine
  const busy = load === undefined ? '' : `, with a load average of ${load.toFixed(1)} at the start`
  return `${at.slice(0, 10)}, on ${cores} cores of ${cpu} with ${memoryGb} GB (${system}), ` +
    `everything on one machine${busy}`
}

function part(answer: NamedAnswer): string[] {
  const head = `## ${answer.title}`
  const problems = answer.problems.map((problem) => `**Not measured**: ${problem}.`)
  if (answer.rows.length === 0) return [head, ...problems]
  return [
    head,
    `![${answer.title}](../tests/bench/results/${chartName(answer)})`,
    `<details${answer.name === 'throughput' ? ' open' : ''}><summary>Figures</summary>\n\n${
      toTable(answer, winnersOf(answer))
    }\n\n</details>`,
    `${answer.note[0]?.toUpperCase()}${answer.note.slice(1)}.`,
    ...problems,
  ]
}
