import { print, printError } from '../../supabase/local/print.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { interruptChildren } from '../_run/processes.ts'
import { type Baseline, makeBench } from './bench.ts'
import { stopDenoTests } from './deno_test.ts'
import { areas } from './list/mod.ts'
import type { Area, Mutant } from './mutant.ts'
import { type Judged, report, verdictLine } from './report.ts'
import { copyTree } from './tree.ts'

/** How many are tried at a time: one for each of the two cores that the tests reckon with. */
const benches = 2

const help =
  `deno task mutants [words]: try the mutants whose area, file, text or tests contain a word

Each is a small fault, put into a copy of the project; the tests that it names must notice it.
The exit code is 0 when each was noticed or is argued to be equivalent.`

/** Try the mutants that the words select, and return the exit code. */
async function runMutants(words: readonly string[]): Promise<number> {
  const chosen = choose(areas, words)
  if (chosen.length === 0) {
    printError(`No mutant has ${words.map((word) => `"${word}"`).join(' or ')} in its area or file`)
    return 2
  }
  const started = performance.now()
  const stopping = stopOnSignals()
  const judged: Judged[] = []
  const baseline: Baseline = new Map()
  const queue = [...chosen]
  await Promise.all(Array.from({ length: Math.min(benches, queue.length) }, work))
  if (stopping.code !== null) return stopping.code
  print(`\n${report(inOrder(judged, chosen), (performance.now() - started) / 1000)}`)
  return judged.every(({ verdict }) => !['survived', 'error'].includes(verdict.kind)) ? 0 : 1

  /** Tries one mutant after the other, as long as there are any. */
  async function work(): Promise<void> {
    await using tree = await copyTree(projectRoot)
    await withSchema(projectRoot, 'migrations', async (pg) => {
      const bench = makeBench(tree, pg, baseline)
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (stopping.code !== null) return
        const begun = performance.now()
        const verdict = await bench.try(next.mutant)
        // A test that was ended says nothing.
        if (stopping.code !== null) return
        const one = { ...next, verdict, seconds: (performance.now() - begun) / 1000 }
        judged.push(one)
        print(verdictLine(one))
      }
    })
  }
}

function inOrder(judged: readonly Judged[], chosen: readonly Chosen[]): Judged[] {
  const places = new Map(chosen.map(({ mutant }, place) => [mutant, place]))
  return judged.toSorted((a, b) => (places.get(a.mutant) ?? 0) - (places.get(b.mutant) ?? 0))
}

type Chosen = { area: string; mutant: Mutant }

function choose(
  from: readonly Area[],
  words: readonly string[],
): Chosen[] {
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

/** Runs what the arguments of this process ask for, then ends it. */
export async function main(): Promise<never> {
  const flag = Deno.args.find((arg) => arg.startsWith('-'))
  if (flag === '--help') print(help)
  else if (flag !== undefined) printError(`Unknown option "${flag}": --help is the only one`)
  Deno.exit(flag === undefined ? await runMutants(Deno.args) : flag === '--help' ? 0 : 2)
}

if (import.meta.main) await main()
