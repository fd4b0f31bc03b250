/** The README's performance section, made from the newest results. */

import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { chartName, type NamedAnswer, type Results, resultsName } from './results.ts'
import { toTable } from './table.ts'

const BEGIN = '<!-- bench: written by `deno task bench` -->'
const END = '<!-- /bench -->'
const readme = join(projectRoot, 'README.md')

/** What stands between the marks. */
export function section(results: Results): string {
  const { machine, versions, postgres, commit, command, at, minutes } = results
  const listed = (all: Record<string, string>): string =>
    Object.entries(all).map(([name, value]) => `${name} ${value}`).join(', ')
  return [
    `Measured on ${
      at.slice(0, 10)
    } in ${minutes} minutes, at commit ${commit}, on ${machine.cores} ` +
    `cores of ${machine.cpu} with ${machine.memoryGb} GB (${machine.system}), everything on one ` +
    `machine, by \`${command}\`. Versions: ${
      listed(versions)
    }. All Postgres sides use one server ` +
    `with ${listed(postgres)}. Every number is in ` +
    `[${resultsName(results)}.json](tests/bench/results/${resultsName(results)}.json).`,
    ...summary(results),
    ...results.answers.flatMap(part),
  ].join('\n\n')
}

/** How ours stand to the others, in a sentence; nothing when either was not measured. */
function summary({ answers }: Results): string[] {
  const rows = answers.find(({ name }) => name === 'throughput')?.rows ?? []
  const rates = new Map(rows.map(({ series, values }) => [series, values.perSecond ?? NaN]))
  const queues = ['graphile node', 'pg-boss node', 'bullmq node']
  const node = Math.max(...queues.map((name) => rates.get(name) ?? NaN))
  const [direct, rpc] = [rates.get('outhook direct') ?? NaN, rates.get('outhook rpc') ?? NaN]
  const ratios = [
    ['the worker to undici alone', direct / (rates.get('undici deno') ?? NaN)],
    ['the worker to graphile-worker under Deno', direct / (rates.get('graphile deno') ?? NaN)],
    ['RPC to the fastest of the three queues under Node', rpc / node],
  ] as const
  const told = ratios.filter(([, ratio]) => Number.isFinite(ratio))
  if (told.length === 0) return []
  return [
    `Deliveries a second as ratios: ${
      told.map(([what, ratio]) => `${what} ${ratio.toFixed(2)}`).join(', ')
    }.`,
  ]
}

function part(answer: NamedAnswer): string[] {
  const head = `### ${answer.title}`
  const problems = answer.problems.map((problem) => `**Not measured**: ${problem}.`)
  if (answer.rows.length === 0) return [head, ...problems]
  return [
    head,
    `![${answer.title}](tests/bench/results/${chartName(answer)})`,
    `<details${answer.name === 'throughput' ? ' open' : ''}><summary>Figures</summary>\n\n${
      toTable(answer)
    }\n\n</details>`,
    `${answer.note[0]?.toUpperCase()}${answer.note.slice(1)}.`,
    ...problems,
  ]
}

/** The section as the README has it now. */
export async function readSection(): Promise<string> {
  const { inner } = parts(await Deno.readTextFile(readme))
  return inner.trim()
}

/** Puts the section of these results in its place. */
export async function writeSection(results: Results): Promise<void> {
  const { before, after } = parts(await Deno.readTextFile(readme))
  await Deno.writeTextFile(readme, `${before}${BEGIN}\n\n${section(results)}\n\n${END}${after}`)
}

function parts(text: string): { before: string; inner: string; after: string } {
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error(`README.md lost its marks ${BEGIN} and ${END}`)
  return {
    before: text.slice(0, from),
    inner: text.slice(from + BEGIN.length, to),
    after: text.slice(to + END.length),
  }
}
