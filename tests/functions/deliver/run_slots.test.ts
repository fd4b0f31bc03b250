import { expect } from '@std/expect'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() keeps one dispatch in flight and never claims more than its free slots', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  database.latencyMs = 7
  for (let i = 1; i <= 200; i++) courses[`event-${i}`] = { ms: (i * 37) % 50 }
  database.add(...many(200))
  const running = harness.start({ slots: 16 })
  let most = 0
  for (let i = 0; i < 200; i++) {
    await clock.advance(5)
    most = Math.max(most, database.leased)
  }
  expect(database.applied).toHaveLength(200)
  expect(most).toBe(16)
  const times = database.calls.map(({ at }) => at)
  expect(times.every((at, i) => i === 0 || at >= (times[i - 1] ?? 0) + 7)).toBe(true)
  await stopRun(harness, running)
})

Deno.test('run() records fast results while a slow delivery goes on', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  courses['event-1'] = { ms: 14_000 }
  database.add({}, {})
  const running = harness.start({ slots: 2 })
  await clock.advance(50)
  expect(database.applied.map(({ event }) => event)).toEqual(['event-2'])
  await clock.advance(14_000)
  expect(database.applied.map(({ event }) => event)).toEqual(['event-2', 'event-1'])
  await stopRun(harness, running)
})

Deno.test('run() frees a slot after 100 ms, up to the limit of outstanding deliveries', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 20; i++) courses[`event-${i}`] = { ms: 14_000 }
  // One organisation alone may not fill a run.
  database.orgOf = (event) => event
  database.add(...many(20))
  const running = harness.start({ slots: 4, maxOutstanding: 10 })
  await clock.advance(1_000)
  expect(sent.map(({ at }) => at)).toEqual([
    ...Array(4).fill(1000),
    ...Array(4).fill(1100),
    1200,
    // A claim leaves a part of the run to other organisations.
    1250,
  ])
  expect(database.leased).toBe(10)
  // The first four end at 15.0 s and make room for three more; the last slot waits for company.
  await clock.advance(13_040)
  expect(sent).toHaveLength(13)
  await stopRun(harness, running)
  expect(clock.pending).toBe(0)
})

Deno.test('run() sends what comes beside an endpoint that holds all slots within 100 ms', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 4; i++) courses[`event-${i}`] = { ms: 14_000 }
  database.add(...many(4))
  const running = harness.start({ slots: 4 })
  await clock.advance(10)
  database.add({}, {})
  await clock.advance(200)
  expect(sent.slice(4)).toEqual([{ event: 'event-5', at: 1100 }, { event: 'event-6', at: 1100 }])
  expect(database.applied.map(({ event }) => event)).toEqual(['event-5', 'event-6'])
  await stopRun(harness, running)
})

Deno.test('run() has all its slots again, and no more, after slow requests have ended', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 4; i++) courses[`event-${i}`] = { ms: 500 }
  for (let i = 5; i <= 20; i++) courses[`event-${i}`] = { ms: 90 }
  database.add(...many(4))
  const running = harness.start({ slots: 4, maxOutstanding: 100 })
  await clock.advance(1_000)
  expect(database.applied).toHaveLength(4)
  database.add(...many(16))
  let most = 0
  for (let n = 0; n < 200; n++) {
    await clock.advance(5)
    most = Math.max(most, database.leased)
  }
  expect(database.applied).toHaveLength(20)
  expect(most).toBe(4)
  await stopRun(harness, running)
})
