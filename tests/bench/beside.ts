/**
 * Whether many workers deliver as much as one, and far from the database many times as much:
 *
 *   deno run -A tests/bench/beside.ts [--small]
 *
 * The workers are loops of run() in this process, and their sends are timers. So it measures the calls of
 * dispatch() beside each other, and not the HTTP client. The CPU time of Postgres for a delivery depends least on
 * what else the machine does.
 */

import { workerOptions } from '../../functions/deliver/options.ts'
import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { columnsOfDone, ENDPOINTS, MAX_IN_FLIGHT, measure, type Place } from './engine/saturated.ts'

const WORKERS = 8

interface Scene extends Place {
  /** What one worker delivers, to what all of them do. */
  atMost: number
}

/** In the second scene a worker has few slots, which it fills in one call: else one alone would use all of the machine. */
const scenes: Scene[] = [
  { name: 'near', sendMs: 2, delayMs: 0, options: workerOptions, atMost: 1 },
  {
    ...{ name: 'far', sendMs: 100, delayMs: 5, atMost: 0.167 },
    options: { ...workerOptions, slots: 64, slowMs: 1_000, maxDispatches: 1, enoughShare: 7 / 8 },
  },
]

export const beside: Measurement = {
  name: 'beside',
  title: 'Many workers beside each other',
  minutes: 2,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 10 : 1
  const rows: Finding['rows'] = []
  const targets: Finding['targets'] = []
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async (bench) => {
    for (const scene of scenes) {
      const [one, all] = [
        await measure(bench, scene, { workers: 1, seconds }),
        await measure(bench, scene, { workers: WORKERS, seconds }),
      ]
      for (const [count, done] of [[1, one], [WORKERS, all]] as const) {
        rows.push({ series: `${scene.name}, ${count}`, values: { ...done } })
      }
      say(`${scene.name}: ${one.perSecond.toFixed(0)}/s, ${all.perSecond.toFixed(0)}/s`)
      targets.push({
        what: `${scene.name}: deliveries of one worker, to those of ${WORKERS}`,
        ...{ value: one.perSecond / all.perSecond, unit: '×', atMost: scene.atMost },
      })
    }
  })
  return {
    note: `${seconds} s at saturation, ${ENDPOINTS} endpoints with ${MAX_IN_FLIGHT} requests in ` +
      'flight each; near: receivers of 2 ms; far: receivers of 100 ms, 5 ms to the database in ' +
      'each direction, 64 slots and one call at a time for each worker; a call is one of outbox.dispatch(); CPU is ' +
      'that of Postgres for a delivery, and that of the relay, of one core',
    columns: [
      ...columnsOfDone,
      { key: 'relayPercent', label: 'relay %', digits: 1 },
    ],
    rows,
    targets,
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/beside.ts', [beside])
