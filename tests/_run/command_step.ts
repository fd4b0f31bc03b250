import { run } from './processes.ts'
import { selectsAll } from './selection.ts'
import type { Part, PartResult, Step } from './step.ts'
import { tally } from './tally.ts'

/**
 * A step of `deno` commands that count as one test each, passed with exit code 0. Under a filter
 * they run only when a word of it is the step's own name.
 */
export function commandStep(name: string, commands: readonly string[][]): Step {
  return {
    name,
    parts({ filter, root }): Promise<Part[]> {
      const runs = selectsAll(filter) || filter.steps.includes(name)
      return Promise.resolve(runs ? commands.map((args) => commandPart(args, root)) : [])
    },
  }
}

function commandPart(args: string[], root: string): Part {
  const name = `deno ${args.join(' ')}`
  return {
    name,
    files: [],
    async run(env): Promise<PartResult> {
      const { code, output } = await run({ path: Deno.execPath(), args, cwd: root, env })
      const nothing = { output: '', causes: [], files: [], tests: [] }
      if (code === 0) return { ...nothing, counts: tally({ passed: 1 }) }
      const cause = `${name} ended with code ${code}`
      return {
        ...nothing,
        counts: tally({ failed: 1 }),
        output: `${cause}\n${output}`,
        causes: [cause],
      }
    },
  }
}
