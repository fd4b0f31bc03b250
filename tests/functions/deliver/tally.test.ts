import { expect } from '@std/expect'
import type { LogFields } from '../../../functions/_shared/base/log.ts'
import { startTally } from '../../../functions/deliver/tally.ts'
import { createFakeClock } from './fake_clock.ts'

const released = { event: 'e', endpoint: 'p', attempt: 1, outcome: 'released' } as const

Deno.test('startTally() logs the counts of each minute that had any, and the rest at its end', async () => {
  const clock = createFakeClock()
  const lines: LogFields[] = []
  const tally = startTally(clock, (_level, _message, fields = {}) => void lines.push(fields))
  tally.add(released)
  tally.add(released)
  await clock.advance(60_000)
  await clock.advance(120_000)
  tally.add(released)
  tally.stop()
  expect(lines).toMatchObject([{ released: 2, delivered: 0 }, { released: 1 }])
  expect(clock.pending).toBe(0)
})
