/** No value that a setting or an endpoint allows stops the delivery, also if the database is slow. */

import { expect } from '@std/expect'
import type { Settings } from '../../../functions/_shared/contract/contract.ts'
import { edgeOptions, workerOptions } from '../../../functions/deliver/options.ts'
import { createHarness, stopRun } from './harness.ts'

const text = await Deno.readTextFile(
  new URL('../../../sql/foundation/setting.sql', import.meta.url),
)

/** The bounds of a setting in sql/foundation/setting.sql. */
function boundsOf(name: string): [number, number] {
  const row = new RegExp(`'${name.replace('.', '\\.')}', '\\d+', 'integer', (\\d+), (\\d+),`)
  const [, lowest, highest] = row.exec(text) ?? []
  if (lowest === undefined || highest === undefined) throw new Error(`${name} has no bounds`)
  return [Number(lowest), Number(highest)]
}

/** The settings that a run gets. */
const bounds: Partial<Record<keyof Settings, [number, number]>> = {
  poll_ms: boundsOf('worker.poll_interval_ms'),
  max_wall_ms: boundsOf('worker.max_wall_ms'),
  max_deliveries: boundsOf('worker.max_deliveries'),
  batch_size: boundsOf('worker.batch_size'),
  success_bytes: boundsOf('response.success_bytes'),
  failure_bytes: boundsOf('response.failure_bytes'),
}

const cases: [string, Partial<Settings>][] = [
  ...Object.entries(bounds).flatMap(([name, values]) =>
    values.map((value): [string, Partial<Settings>] => [`${name} ${value}`, { [name]: value }])
  ),
  ...['lowest', 'highest'].map((which, n): [string, Partial<Settings>] => [
    `each setting at its ${which} value`,
    Object.fromEntries(Object.entries(bounds).map(([name, values]) => [name, values[n]])),
  ]),
]

for (const base of [edgeOptions, workerOptions]) {
  for (const [name, settings] of cases) {
    Deno.test(`run() of kind ${base.kind} delivers with ${name}`, async () => {
      for (const timeoutMs of [500, 60_000]) {
        for (const latencyMs of [0, 2_000]) {
          const harness = createHarness(base)
          const { clock, database, sent } = harness
          Object.assign(database, { settings, latencyMs, endpoint: { timeout_ms: timeoutMs } })
          const lane = { lane: 'a', ordered: true }
          const lease = { lease_ms: timeoutMs + 5_000 }
          database.add(lease, { ...lane, ...lease }, lease)
          const running = harness.start()
          await clock.advance(latencyMs + 1)
          expect({ timeoutMs, latencyMs, hasSent: sent.length > 0 })
            .toEqual({ timeoutMs, latencyMs, hasSent: true })
          await stopRun(harness, running)
          expect(database.applied.map(({ outcome }) => outcome)).toContain('delivered')
        }
      }
    })
  }
}
