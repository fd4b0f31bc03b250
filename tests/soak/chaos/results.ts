/** The runs that are kept, and the table of faults that the page on reliability shows. */

import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { join } from 'node:path'

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

/** Keeps a run, if OUTHOOK_SOAK_RECORD is set. */
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
): Promise<void> {
  if (Deno.env.get('OUTHOOK_SOAK_RECORD') !== '1') return
  const run: Run = {
    ...{ seed, minutes, at: new Date().toISOString() },
    faults: Object.fromEntries([...done].sort(([a], [b]) => a < b ? -1 : 1)),
    ...{ events, requests, settledMs, broken: [...broken] },
  }
  await Deno.writeTextFile(file, JSON.stringify([...await readRuns(), run], null, 2) + '\n')
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
