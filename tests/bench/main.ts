/**
 * The benchmark: each question in turn, with its progress, its table and its problems. A question that
 * fails is told and the next one asked; the exit code is then 1.
 */

import { runCommand } from '../../supabase/local/command.ts'
import { messageOf, SetupError } from '../../supabase/local/errors.ts'
import { print } from '../../supabase/local/print.ts'
import { flags, help, readPlan } from './options.ts'
import type { Answer, Plan, Question } from './questions/_question.ts'
import { toHeadlines } from './report/headlines.ts'
import { loadProblem, readCommit, readMachine, readVersions } from './report/machine.ts'
import { writePages } from './report/pages.ts'
import { type NamedAnswer, type Results, writeResults } from './report/results.ts'
import { toTable } from './report/table.ts'
import { winnersOf } from './report/winner.ts'
import { startBench } from './run/bench.ts'
import { problemOf } from './run/problem.ts'
import { sides } from './sides/catalog.ts'

type Asked = ReturnType<typeof readPlan>

/** What a run learns of its servers, for the results. */
interface Servers {
  versions: Record<string, string>
  postgres: Record<string, string>
}

async function ask(
  question: Question,
  plan: Plan,
  servers: Servers,
  say: (line: string) => void,
): Promise<Answer> {
  try {
    const bench = await startBench(say)
    try {
      const answer = await question.run(bench, plan)
      servers.postgres = await bench.server.settings()
      servers.versions = { ...servers.versions, ...await bench.versions() }
      return answer
    } finally {
      await bench.stop()
    }
  } catch (error) {
    return { note: '', columns: [], rows: [], chart: '', problems: [problemOf(error)] }
  }
}

async function measure({ plan, asked, isKept, mostLoad }: Asked): Promise<number> {
  const [load = 0] = Deno.loadavg()
  const tooMuch = loadProblem(load, mostLoad)
  if (tooMuch !== null) throw new SetupError(tooMuch)
  const begun = performance.now()
  const at = new Date().toISOString()
  const commit = await readCommit()
  const servers: Servers = { versions: {}, postgres: {} }
  const answers: NamedAnswer[] = []
  for (const [index, question] of asked.entries()) {
    print(`\n[${index + 1}/${asked.length}] ${question.title}`)
    const answer = await ask(question, plan, servers, (line) => print(`${minutes(begun)}  ${line}`))
    if (answer.rows.length > 0) {
      print(`\n${toTable(answer, winnersOf(answer))}\n${answer.note}.`)
    }
    for (const problem of answer.problems) print(`PROBLEM: ${problem}`)
    answers.push({ name: question.name, title: question.title, ...answer })
  }
  const problems = answers.flatMap((answer) => answer.problems).length
  print(`\n${toHeadlines({ answers })}`)
  print(
    `\nThe load average was ${
      load.toFixed(1)
    } at the start. A ratio above 1 means that Outhook is ahead.`,
  )
  print(`\n${asked.length} questions in ${minutes(begun)}, ${problems} problems`)
  const results: Results = {
    at,
    minutes: Math.ceil((performance.now() - begun) / 60_000),
    commit,
    load,
    command: ['deno task bench', ...Deno.args].join(' '),
    machine: readMachine(),
    versions: readVersions(servers.versions),
    postgres: servers.postgres,
    tuning: Object.fromEntries(sides.map(({ name, tuning }) => [name, tuning])),
    answers,
  }
  if (isKept) {
    await writeResults(results)
    await writePages(results)
    print('tests/bench/results, docs/performance.md and README.md are written')
  }
  return problems === 0 ? 0 : 1
}

function minutes(begun: number): string {
  const seconds = Math.round((performance.now() - begun) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Runs the command with the arguments of this process. */
export async function main(): Promise<never> {
  return await runCommand({
    help,
    flags,
    run: (values) => {
      let asked: Asked
      try {
        asked = readPlan(values)
      } catch (error) {
        throw new SetupError(messageOf(error))
      }
      return measure(asked)
    },
  })
}

if (import.meta.main) await main()
