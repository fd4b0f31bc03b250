import { expect } from '@std/expect'
import { version } from '../../../functions/_shared/base/version.ts'
import { describeWorker } from '../../../functions/deliver/worker_facts.ts'
import { createFakeClock } from './fake_clock.ts'

const host = { host: 'worker-1', pid: 7 }

Deno.test('facts() names the process, its version and what it holds', () => {
  const { facts } = describeWorker({ clock: createFakeClock(), ...host })
  expect(facts(3)).toEqual({ ...host, version, in_flight: 3, delivered: 0 })
})

Deno.test('facts() counts what was delivered within a minute, and nothing else', async () => {
  const clock = createFakeClock()
  const { add, facts } = describeWorker({ clock, ...host })
  const counts: number[] = []
  for (const ms of [0, 30_000, 29_000, 1_000, 29_000, 1_000, 3_600_000]) {
    await clock.advance(ms)
    counts.push(facts(0).delivered)
    if (ms <= 30_000 && counts.length <= 2) {
      for (const outcome of ['delivered', 'delivered', 'failed', 'released'] as const) {
        add({ outcome })
      }
    }
  }
  expect(counts).toEqual([0, 2, 4, 2, 2, 0, 0])
})
