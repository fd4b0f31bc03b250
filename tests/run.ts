import { binVariable } from '../supabase/local/postgres/binaries.ts'
import { print, printError, printRaw } from '../supabase/local/print.ts'
import { projectRoot } from '../supabase/local/schema/project.ts'
import { runFailedAgain } from './_run/again.ts'
import { listFiles } from './_run/files.ts'
import { countBusy, isMachineIdle } from './_run/idle.ts'
import { stopLeftovers } from './_run/leftovers.ts'
import { help, type Options, parseOptions } from './_run/options.ts'
import { interruptChildren } from './_run/processes.ts'
import { slowestOf, timesOf } from './_run/report.ts'
import { planSteps, runSteps, type StepResult } from './_run/run_steps.ts'
import { makeFilter } from './_run/selection.ts'
import { setUp } from './_run/setup.ts'
import type { Step, StepContext } from './_run/step.ts'
import { soakSteps } from './_run/soak_steps.ts'
import { testSteps } from './_run/steps.ts'
import { postgres17 } from './_support/postgres_17/mod.ts'
import { removeFoldersOf, sweepTestFolders } from './_support/folder.ts'
import { add, exitCode, tally, tallyLine } from './_run/tally.ts'

/**
 * Two parts keep two cores busy, unless they wait: then two more run. On more cores there is room for more,
 * but each part wants a core.
 */
const width = {
  slots: Math.min(Math.max(navigator.hardwareConcurrency, 2), 4),
  spare: 2,
  isIdle: isMachineIdle,
}

/** Run the steps that the options ask for, and return the exit code. */
async function runAll(options: Options): Promise<number> {
  const started = performance.now()
  const busy = countBusy()
  const steps = options.soak ? soakSteps(options) : testSteps
  if (options.postgres !== null) {
    // Inherited by all that this starts.
    Deno.env.set(binVariable, await postgres17({ log: (line) => print(`setup: ${line}`) }))
  }
  const context = await makeContext(options, steps)
  const stopping = stopOnSignals(context.mark)
  await sweepTestFolders()
  const planned = await planSteps(steps, context)
  await setUp(projectRoot, planned.flatMap(({ parts }) => parts))
  const stopped = (): boolean => stopping.code !== null
  const first = await runSteps(planned, context, width, stopped)
  const { results, passedAgain } = await runFailedAgain(first, options.again, context, stopped)
  await stopping.done
  await removeFoldersOf(context.mark)
  if (stopping.code !== null) return stopping.code
  // A word of a test's name leaves most files with nothing to run.
  const ran = results.filter(({ counts: { passed, failed, skipped } }) => {
    return passed + failed + skipped > 0
  })
  if (ran.length === 0) print(nothing(options.words))
  else tell(ran, options.slow, (performance.now() - started) / 1000, busy())
  const total = results.map(({ counts }) => counts).reduce(add, tally())
  print()
  const failed = ran.filter(({ counts }) => counts.failed > 0)
  if (failed.length > 0) print(`Failed, see above: ${failed.map(({ name }) => name).join(', ')}`)
  const causes = failed.flatMap(({ parts }) => parts.flatMap((part) => part.causes))
  for (const cause of causes) print(`  ${cause}`)
  if (passedAgain.length > 0) print('Failed beside others, and passed when run again alone:')
  for (const cause of passedAgain) print(`  ${cause}`)
  print(tallyLine(total))
  return exitCode(total)
}

function nothing(words: readonly string[]): string {
  return words.length === 0
    ? 'There is no test of this kind'
    : `No test file and no test name contains ${words.map((word) => `"${word}"`).join(' or ')}`
}

function tell(
  results: readonly StepResult[],
  slow: boolean,
  seconds: number,
  busy: number | null,
): void {
  const parts = results.flatMap((result) => result.parts)
  if (slow) {
    printRaw(`\n${slowestOf('tests', parts.flatMap(({ tests }) => tests))}`)
    printRaw(`\n${slowestOf('files', parts.flatMap(({ files }) => files))}`)
  }
  printRaw(`\n${timesOf(results.map(({ time }) => time), seconds)}`)
  if (busy !== null) print(`The cores were busy for ${Math.round(busy * 100)} % of the time`)
}

async function makeContext(options: Options, steps: readonly Step[]): Promise<StepContext> {
  const paths = (await Promise.all(
    ['.test.ts', '.test.sql', '.soak.ts'].map((end) => listFiles(projectRoot, 'tests', end)),
  )).flat()
  return {
    root: projectRoot,
    filter: makeFilter(options.words, steps.map((step) => step.name), paths),
    all: options.all,
    slow: options.slow,
    mark: crypto.randomUUID(),
    env: { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', OUTHOOK_TESTS: options.all ? 'all' : 'short' },
  }
}

/** On Ctrl-C or an end from outside: stop all that runs, then let runAll return with the code. */
function stopOnSignals(mark: string): { code: number | null; done: Promise<unknown> } {
  const state: { code: number | null; done: Promise<unknown> } = {
    code: null,
    done: Promise.resolve(),
  }
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    if (Deno.build.os === 'windows' && signal !== 'SIGINT') continue
    Deno.addSignalListener(signal, () => {
      if (state.code !== null) return
      state.code = codes[signal]
      printError(`Stopping on ${signal}`)
      interruptChildren()
      state.done = stopLeftovers(mark, 0, 1_000)
    })
  }
  return state
}

/** Runs what the arguments of this process ask for, then ends it. */
export async function main(): Promise<never> {
  if (Deno.args.includes('--help') || Deno.args.includes('-h')) {
    print(help)
    Deno.exit(0)
  }
  const parsed = parseOptions(Deno.args)
  if (!parsed.ok) {
    printError(parsed.message)
    Deno.exit(2)
  }
  Deno.exit(await runAll(parsed.options))
}

if (import.meta.main) await main()
