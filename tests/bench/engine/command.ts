/**
 * Takes measurements one after the other, with progress, tables and verdicts. A missed target is a
 * result; what could not be measured is a problem, and the exit code is then 1.
 */

import { runCommand } from '../../../supabase/local/command.ts'
import { messageOf } from '../../../supabase/local/errors.ts'
import { print, printError } from '../../../supabase/local/print.ts'
import { defaultLoad, loadOf, loadProblem, readCommit, readMachine } from '../report/machine.ts'
import { toTable } from '../report/table.ts'
import { problemOf } from '../run/problem.ts'
import type { Finding, Measurement, Size } from './measurement.ts'
import {
  exitCodeOf,
  mergeTaken,
  readTaken,
  type Taken,
  toVerdicts,
  writeEngineResults,
} from './results.ts'

const flags = {
  only: { type: 'string', multiple: true, default: [] as string[] },
  small: { type: 'boolean', default: false },
  keep: { type: 'boolean' },
  loop: { type: 'string', multiple: true, default: [] as string[] },
  load: { type: 'string', default: String(defaultLoad) },
} as const

function helpOf(command: string, all: readonly Measurement[]): string {
  const minutes = all.reduce((sum, one) => sum + one.minutes, 0)
  const list = all.map(({ name, title, minutes }) =>
    `  ${name.padEnd(12)} ${title}, ${minutes} min`
  )
  return `${command} [--only <name>] [--small] [--keep] [--load <n>]

Measures the engine against its targets: about ${minutes} minutes in full, on a quiet machine.

${list.join('\n')}

  --only   takes these alone (may be repeated, or words with commas)
  --small  a tenth of the size or less, to see that everything works
  --keep   writes what was taken to tests/bench/results/engine/, beside what is there of the others;
           a full run of all of them does so by itself
  --load   the highest load average of the machine at the start, by default ${defaultLoad}; with --small
           there is no bound`
}

/** Makes this process the command that takes these measurements. */
export function runMeasurements(
  command: string,
  all: readonly Measurement[],
): Promise<never> {
  const help = helpOf(command, all)
  return runCommand({
    help,
    flags,
    run: async ({ only, small, keep, loop, load }) => {
      const names = only.flatMap((words) => words.split(','))
      const unknown = names.filter((name) => !all.some((one) => one.name === name))
      if (unknown.length > 0) {
        printError(`--only ${unknown} is none of ${all.map(({ name }) => name).join(', ')}`)
        return 2
      }
      const tooMuch = small ? null : tooMuchLoad(load)
      if (tooMuch !== null) {
        printError(tooMuch)
        return 2
      }
      const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name))
      const line = [command, ...Deno.args].join(' ')
      const taken = await take(chosen, small ? 'small' : 'full', line, loop)
      const problems = taken.filter(({ problem }) => problem !== null).length
      print(`\n${toVerdicts(taken)}`)
      print(`\n${taken.length} measurements, ${problems} problems`)
      if (keep ?? (!small && names.length === 0 && all.length > 1)) {
        const machine = readMachine()
        const files = await writeEngineResults({
          machine,
          taken: mergeTaken(all.map(({ name }) => name), await readTaken(machine), taken),
        })
        print(`written: ${files.join(', ')}`)
      }
      return exitCodeOf(taken)
    },
  })
}

/** Why not to measure now, or why the bound is none. */
function tooMuchLoad(most: string): string | null {
  try {
    return loadProblem(Deno.loadavg()[0] ?? 0, loadOf(most))
  } catch (error) {
    return messageOf(error)
  }
}

async function take(
  measurements: readonly Measurement[],
  size: Size,
  command: string,
  loop: readonly string[],
): Promise<Taken[]> {
  const begun = performance.now()
  const commit = await readCommit()
  const taken: Taken[] = []
  for (const [n, { name, title, minutes, run }] of measurements.entries()) {
    const expected = size === 'full' ? `, about ${minutes} min` : ''
    print(`\n[${n + 1}/${measurements.length}] ${title}${expected}`)
    const say = (line: string): void => print(`${clock(begun)}  ${line}`)
    const from = performance.now()
    const [load = 0] = Deno.loadavg()
    const how = (): Omit<Taken, keyof Finding | 'problem'> => ({
      ...{ name, title, size, commit, command, load },
      seconds: Math.round((performance.now() - from) / 1000),
      at: new Date().toISOString(),
    })
    try {
      const finding = await run(size, say, { loop })
      print(`\n${toTable(finding)}\n${finding.note}.`)
      taken.push({ ...how(), problem: null, ...finding })
    } catch (error) {
      const problem = problemOf(error)
      print(`PROBLEM: ${problem}`)
      const nothing = { note: '', columns: [], rows: [], targets: [] }
      taken.push({ ...how(), problem, ...nothing })
    }
  }
  return taken
}

function clock(begun: number): string {
  const seconds = Math.round((performance.now() - begun) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
