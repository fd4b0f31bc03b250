/**
 * The benchmark: each question in turn, with its progress, its table and its problems. A question that
 * fails is told and the next one asked; the exit code is then 1.
 */

import { runCommand } from '../../supabase/local/command.ts'
import { messageOf, SetupError } from '../../supabase/local/errors.ts'
import { print } from '../../supabase/local/print.ts'
import { flags, help, readPlan } from './options.ts'
import type { Answer, Plan, Question } from './questions/_question.ts'
import { toTable } from './report/table.ts'
import { startBench } from './run/bench.ts'

type Asked = ReturnType<typeof readPlan>

async function ask(question: Question, plan: Plan, say: (line: string) => void): Promise<Answer> {
  const bench = await startBench(say)
  try {
    return await question.run(bench, plan)
  } catch (error) {
    const problems = [messageOf(error)]
    return { note: '', columns: [], rows: [], chart: '', problems }
  } finally {
    await bench.stop()
  }
}

async function measure({ plan, asked }: Asked): Promise<number> {
  const begun = performance.now()
  let problems = 0
  for (const [index, question] of asked.entries()) {
    const say = (line: string): void => print(`${minutes(begun)}  ${line}`)
    print(`\n[${index + 1}/${asked.length}] ${question.title}`)
    const answer = await ask(question, plan, say)
    if (answer.rows.length > 0) print(`\n${toTable(answer)}\n${answer.note}.`)
    for (const problem of answer.problems) print(`PROBLEM: ${problem}`)
    problems += answer.problems.length
  }
  print(`\n${asked.length} questions in ${minutes(begun)}, ${problems} problems`)
  return problems === 0 ? 0 : 1
}

function minutes(begun: number): string {
  const seconds = Math.round((performance.now() - begun) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

await runCommand({
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
