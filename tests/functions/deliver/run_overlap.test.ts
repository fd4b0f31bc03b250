import { expect } from '@std/expect'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() makes a second dispatch while the first is on its way, with a share of the slots each', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  database.latencyMs = 100
  courses['event-2'] = { ms: 60 }
  database.add(...many(6))
  const running = harness.start({ slots: 4, maxDispatches: 2 })
  await clock.advance(170)
  expect(database.calls.map(({ at, limit, results }) => [at, limit, results.length])).toEqual([
    [1000, 2, 0],
    [1110, 2, 1],
    [1160, 2, 1],
  ])
  await stopRun(harness, running)
})

Deno.test('run() with two dispatches holds no more than its slots, and sends everything once', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  database.latencyMs = 17
  for (let i = 1; i <= 400; i++) courses[`event-${i}`] = { ms: (i * 37) % 50 }
  database.add(...many(400))
  const running = harness.start({ slots: 16, maxDispatches: 2 })
  let mostHeld = 0
  for (let i = 0; i < 600; i++) {
    await clock.advance(5)
    mostHeld = Math.max(mostHeld, database.leased)
  }
  expect(database.applied).toHaveLength(400)
  expect(new Set(sent.map(({ event }) => event)).size).toBe(400)
  expect(sent).toHaveLength(400)
  expect(mostHeld).toBe(16)
  const times = database.calls.map(({ at }) => at)
  // A third call comes only after the first of the two before it was answered.
  expect(times.every((at, i) => i < 2 || at >= (times[i - 2] ?? 0) + 17)).toBe(true)
  expect(times.some((at, i) => i > 0 && at < (times[i - 1] ?? 0) + 17)).toBe(true)
  await stopRun(harness, running)
})

Deno.test('run() continues with one dispatch while another is repeated', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.latencyMs = 5
  database.add(...many(60))
  const running = harness.start({ slots: 8, maxDispatches: 2 })
  await clock.advance(12)
  database.troubles = ['lost', 'unreached']
  await clock.advance(3_000)
  expect(database.applied).toHaveLength(60)
  expect(sent).toHaveLength(60)
  expect(database.stale).toEqual([])
  await stopRun(harness, running)
  expect(harness.summary).toMatchObject({ end: 'signal', delivered: 60, stale: 0 })
})

Deno.test('run() lets no dispatch get so far behind that the database forgets it', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add(...many(4_000))
  const running = harness.start({ slots: 8, maxDispatches: 2 })
  await clock.advance(1)
  // The first of the two never arrives; the others are made at once.
  const { dispatch } = database
  const stuck: number[] = []
  database.dispatch = (call) => {
    if (stuck.length === 0) stuck.push(call.seq)
    return call.seq === stuck[0] ? new Promise(() => {}) : dispatch(call)
  }
  await clock.advance(2_000)
  const [seq = NaN] = stuck
  expect(Math.max(...database.calls.map((call) => call.seq))).toBe(seq + 7)
  harness.stop.abort()
  await clock.advance(60_000)
  void running
})
