import { printRaw } from '../../supabase/local/print.ts'
import { run } from './processes.ts'
import { selectsAll } from './selection.ts'
import type { Step, StepContext } from './step.ts'
import { type Tally, tally } from './tally.ts'

/**
 * A step of `deno` commands that count as one test each, passed with exit code 0. Under a filter
 * they run only when a word of it is the step's own name.
 */
export function commandStep(name: string, commands: readonly string[][]): Step {
  return { name, run: (context) => runCommands(name, commands, context) }
}

async function runCommands(
  name: string,
  commands: readonly string[][],
  context: StepContext,
): Promise<Tally | null> {
  if (!selectsAll(context.filter) && !context.filter.steps.includes(name)) return null
  const counts = tally()
  for (const args of commands) {
    const ended = await run({
      path: Deno.execPath(),
      args,
      cwd: context.root,
      env: context.env,
    })
    if (ended.code === 0) counts.passed += 1
    else {
      counts.failed += 1
      printRaw(`deno ${args.join(' ')} ended with code ${ended.code}\n${ended.output}`)
    }
  }
  return counts
}
