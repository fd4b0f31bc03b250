/**
 * The runs that are kept, and the table of faults that the page on reliability shows.
 *
 *   npx -y deno@2.9.6 run -A tests/soak/chaos/results.ts [<file>…]
 *
 * adds the runs of such files of other machines to the kept ones, and prints the sums.
 */

import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { join } from 'node:path'
import { print } from '../../../supabase/local/print.ts'

/** A kept run. */
export interface Run {
  seed: number
  minutes: number
  at: string
  /** How often each kind of fault was done. */
  faults: Record<string, number>
  events: number
  requests: number
  /** The longest time after the last fault of a round until all had ended. */
  settledMs: number
  /** The promises that it broke. */
  broken: string[]
}

const file = join(projectRoot, 'tests/soak/chaos/results.json')

/** All runs that are kept, in order. */
export async function readRuns(): Promise<Run[]> {
  return JSON.parse(await Deno.readTextFile(file))
}

/** Keeps a run, if OUTHOOK_SOAK_RECORD is set, and returns it. */
export async function record(
  { seed, minutes, done, events, requests, settledMs, broken }: {
    seed: number
    minutes: number
    done: ReadonlyMap<string, number>
    events: number
    requests: number
    settledMs: number
    broken: ReadonlySet<string>
  },
): Promise<Run> {
  const run: Run = {
    ...{ seed, minutes, at: new Date().toISOString() },
    faults: Object.fromEntries([...done].sort(([a], [b]) => a < b ? -1 : 1)),
    ...{ events, requests, settledMs, broken: [...broken] },
  }
  if (Deno.env.get('OUTHOOK_SOAK_RECORD') === '1') await write([...await readRuns(), run])
  return run
}

async function write(runs: readonly Run[]): Promise<void> {
  await Deno.writeTextFile(file, JSON.stringify(runs, null, 2) + '\n')
}

/** Both lists without the runs that are in both. */
export function mergeRuns(runs: readonly Run[], others: readonly Run[]): Run[] {
  const keyOf = ({ seed, at }: Run): string => `${seed} ${at}`
  const known = new Set(runs.map(keyOf))
  return [...runs, ...others.filter((run) => !known.has(keyOf(run)))]
}

/** The faults of one run by kind, the most frequent first, as one line. */
export function tellFaults(faults: Readonly<Record<string, number>>): string {
  return Object.entries(faults).toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([kind, n]) => `${kind} ${n}`).join(', ')
}

/** The sums of all runs as two tables: the runs, and the kinds of faults with the promises that were broken. */
export function tellRuns(runs: readonly Run[], kinds: readonly string[]): string {
  const count = (run: Run): number => Object.values(run.faults).reduce((sum, n) => sum + n, 0)
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)
  const lines = [
    '| seed | minutes | faults | events | requests | over after, s | promises broken |',
    '| ---: | ------: | -----: | -----: | -------: | ------------: | --------------- |',
    ...runs.map((run) =>
      `| ${run.seed} | ${run.minutes} | ${count(run)} | ${run.events} | ${run.requests} | ` +
      `${(run.settledMs / 1_000).toFixed(1)} | ${run.broken.join(', ') || 'none'} |`
    ),
    `| all | ${sum(runs.map(({ minutes }) => minutes))} | ${sum(runs.map(count))} | ` +
    `${sum(runs.map(({ events }) => events))} | ${sum(runs.map(({ requests }) => requests))} | | |`,
    '',
    '| fault | times |',
    '| ----- | ----: |',
    ...kinds.map((kind) => `| ${kind} | ${sum(runs.map(({ faults }) => faults[kind] ?? 0))} |`),
  ]
  return lines.join('\n')
}

/** Adds the runs of these files to the kept ones, and prints the sums of all. */
async function addUp(files: readonly string[]): Promise<void> {
  let runs = await readRuns()
  for (const path of files) runs = mergeRuns(runs, JSON.parse(await Deno.readTextFile(path)))
  if (files.length > 0) await write(runs)
  const kinds = new Set(runs.flatMap(({ faults }) => Object.keys(faults)))
  print(tellRuns(runs, [...kinds].sort()))
}

if (import.meta.main) await addUp(Deno.args)
