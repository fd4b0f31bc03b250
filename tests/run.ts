import { binVariable } from '../supabase/local/postgres/binaries.ts'
import { print, printError } from '../supabase/local/print.ts'
import { projectRoot } from '../supabase/local/schema/project.ts'
import { listFiles } from './_run/files.ts'
import { runMark, stopLeftovers } from './_run/leftovers.ts'
import { type Options, parseOptions } from './_run/options.ts'
import { interruptChildren } from './_run/processes.ts'
import { makeFilter } from './_run/selection.ts'
import { setUp } from './_run/setup.ts'
import type { Step, StepContext } from './_run/step.ts'
import { soakSteps, testSteps } from './_run/steps.ts'
import { postgres17 } from './_support/postgres_17/mod.ts'
import { sweepTestFolders } from './_support/folder.ts'
import { add, exitCode, type Tally, tally, tallyLine } from './_run/tally.ts'

/** Run the steps that the options ask for, one after the other, and return the exit code. */
async function main(options: Options): Promise<number> {
  const steps = options.soak ? soakSteps(options.short) : testSteps
  if (options.postgres !== null) {
    // Inherited by all that this starts.
    Deno.env.set(binVariable, await postgres17({ log: (line) => print(`setup: ${line}`) }))
  }
  const context = await makeContext(options, steps)
  const stopping = stopOnSignals(context.mark)
  await sweepTestFolders()
  await setUp(projectRoot)
  let total = tally()
  let ran = 0
  const failed: string[] = []
  for (const step of steps) {
    const counts = await runStep(step, context)
    if (stopping.code !== null) return stopping.code
    if (counts === null) continue
    ran += 1
    total = add(total, counts)
    if (counts.failed > 0) failed.push(step.name)
  }
  if (ran === 0) {
    print(
      options.words.length > 0
        ? `No test file and no test name contains ${
          options.words.map((w) => `"${w}"`).join(' or ')
        }`
        : 'There is no test of this kind',
    )
  }
  print()
  if (failed.length > 0) print(`Failed, see above: ${failed.join(', ')}`)
  print(tallyLine(total))
  return exitCode(total)
}

async function makeContext(options: Options, steps: readonly Step[]): Promise<StepContext> {
  const paths = (await Promise.all(
    ['.test.ts', '.test.sql', '.soak.ts'].map((end) => listFiles(projectRoot, 'tests', end)),
  )).flat()
  const mark = crypto.randomUUID()
  return {
    root: projectRoot,
    filter: makeFilter(options.words, steps.map((step) => step.name), paths),
    mark,
    env: { [runMark]: mark, NO_COLOR: '1' },
  }
}

async function runStep(step: Step, context: StepContext): Promise<Tally | null> {
  const started = performance.now()
  let counts: Tally | null
  try {
    counts = await step.run(context)
  } catch (error) {
    counts = tally({ failed: 1 })
    print(error instanceof Error ? error.stack ?? error.message : String(error))
  }
  const left = await stopLeftovers(context.mark)
  for (const { pid, command } of left) print(`Left running: process ${pid}, ${command}`)
  if (counts === null) return null
  if (left.length > 0) counts = add(counts, tally({ failed: 1 }))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  print(
    `${counts.failed === 0 ? 'ok    ' : 'FAILED'} ${step.name}: ${
      tallyLine(counts)
    } (${seconds} s)`,
  )
  return counts
}

/** On Ctrl-C or an end from outside: stop all that runs, then let main return with the code. */
function stopOnSignals(mark: string): { code: number | null } {
  const state: { code: number | null } = { code: null }
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    if (Deno.build.os === 'windows' && signal !== 'SIGINT') continue
    Deno.addSignalListener(signal, () => {
      if (state.code !== null) return
      state.code = codes[signal]
      printError(`Stopping on ${signal}`)
      interruptChildren()
      void stopLeftovers(mark, 0)
    })
  }
  return state
}

if (import.meta.main) {
  const parsed = parseOptions(Deno.args)
  if (!parsed.ok) {
    printError(parsed.message)
    Deno.exit(2)
  }
  Deno.exit(await main(parsed.options))
}
