/**
 * What it costs that organisations which wait for each other take turns:
 *
 *   deno run -A tests/bench/organisations.ts [--small]
 *
 * One worker delivers a backlog of two organisations, and of ten. In the first series none of them waits to be
 * routed, so a call claims as much as it has room for. In the second one outbox.router says that they wait for
 * each other, as it does for 5 s after each batch that left another organisation waiting, so each call does less.
 */

import { workerOptions } from '../../functions/deliver/options.ts'
import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { columnsOfDone, type Done, ENDPOINTS, measure } from './engine/saturated.ts'
import { median } from './run/stats.ts'

const ROUNDS = 3
const scene = { name: 'organisations', sendMs: 2, delayMs: 0, options: workerOptions }

/** [series, whether they wait for each other] */
const states = [['apart', false], ['taking turns', true]] as const

export const organisations: Measurement = {
  name: 'organisations',
  title: 'Two and ten organisations with a backlog',
  minutes: 3,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 6 : 1
  const rows: Finding['rows'] = []
  const targets: Finding['targets'] = []
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async (bench) => {
    for (const count of [2, 10]) {
      const found = new Map<string, Done[]>(states.map(([name]) => [name, []]))
      for (let round = 0; round < (size === 'full' ? ROUNDS : 1); round++) {
        for (const [name, isShared] of states) {
          const done = await measure(bench, scene, {
            ...{ workers: 1, seconds, organisations: count },
            before: (sql) =>
              sql`update outbox.router set shared_at = case when ${isShared}::boolean then 'infinity' else '-infinity' end::timestamptz
                where turn >= 0`,
          })
          found.get(name)?.push(done)
        }
      }
      const perSecond = (name: string): number =>
        median((found.get(name) ?? []).map((done) => done.perSecond))
      for (const [name, all] of found) {
        const middle = all.find((done) => done.perSecond === perSecond(name)) ?? all[0]
        rows.push({ series: `${count}, ${name}`, values: { ...middle } })
      }
      const ratio = perSecond('apart') / perSecond('taking turns')
      say(
        `${count} organisations: ${
          ratio.toFixed(2)
        } times as many a second when they do not take turns`,
      )
      targets.push({
        what: `${count} organisations: deliveries apart, to those while they take turns`,
        ...{ value: ratio, unit: '×', atMost: 1.25 },
      })
    }
  })
  return {
    note:
      `${seconds} s at saturation, the median of the rounds, one worker, ${ENDPOINTS} endpoints in all, receivers of 2 ms`,
    columns: columnsOfDone,
    rows,
    targets,
  }
}

if (import.meta.main) {
  await runMeasurements('deno run -A tests/bench/organisations.ts', [organisations])
}
