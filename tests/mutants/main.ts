import { print, printError } from '../../supabase/local/print.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { interruptChildren } from '../_run/processes.ts'
import { makeBench } from './bench.ts'
import { stopDenoTests } from './deno_test.ts'
import { areas } from './list/mod.ts'
import type { Area, Mutant } from './mutant.ts'
import type { Verdict } from './outcome.ts'
import { type Judged, report, verdictLine } from './report.ts'
import { copyTree } from './tree.ts'

const help =
  `deno task mutants [words]: try the mutants whose area, file, text or tests contain a word

Each is a small fault, put into a copy of the project; the tests that it names must notice it.
The exit code is 0 when each was noticed or is argued to be equivalent.`

/** Try the mutants that the words select, and return the exit code. */
async function main(words: readonly string[]): Promise<number> {
  const chosen = choose(areas, words)
  if (chosen.length === 0) {
    printError(`No mutant has ${words.map((word) => `"${word}"`).join(' or ')} in its area or file`)
    return 2
  }
  const started = performance.now()
  const stopping = stopOnSignals()
  const judged: Judged[] = []
  await using tree = await copyTree(projectRoot)
  await withSchema(projectRoot, 'migrations', async (pg) => {
    const bench = makeBench(tree, pg)
    for (const { area, mutant } of chosen) {
      if (stopping.code !== null) return
      const begun = performance.now()
      const verdict: Verdict = await bench.try(mutant)
      if (stopping.code !== null) return
      const seconds = (performance.now() - begun) / 1000
      judged.push({ area, mutant, verdict, seconds })
      print(verdictLine({ area, mutant, verdict, seconds }))
    }
  })
  if (stopping.code !== null) return stopping.code
  print(`\n${report(judged, (performance.now() - started) / 1000)}`)
  return judged.every(({ verdict }) => !['survived', 'error'].includes(verdict.kind)) ? 0 : 1
}

function choose(
  from: readonly Area[],
  words: readonly string[],
): { area: string; mutant: Mutant }[] {
  return from.flatMap(({ name, mutants }) => mutants.map((mutant) => ({ area: name, mutant })))
    .filter(({ area, mutant }) =>
      words.length === 0 ||
      words.some((word) =>
        [area, mutant.file, mutant.find, ...mutant.tests].join('\n').includes(word)
      )
    )
}

/** On Ctrl-C or an end from outside: end the test that runs; main then puts everything away. */
function stopOnSignals(): { code: number | null } {
  const state: { code: number | null } = { code: null }
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    Deno.addSignalListener(signal, () => {
      if (state.code !== null) return
      state.code = codes[signal]
      printError(`Stopping on ${signal}`)
      interruptChildren()
      void stopDenoTests()
    })
  }
  return state
}

if (import.meta.main) {
  const flag = Deno.args.find((arg) => arg.startsWith('-'))
  if (flag === '--help') print(help)
  else if (flag !== undefined) printError(`Unknown option "${flag}": --help is the only one`)
  Deno.exit(flag === undefined ? await main(Deno.args) : flag === '--help' ? 0 : 2)
}
