import { expect } from '@std/expect'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() reports and routes in different calls while events wait for a turn', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.latencyMs = 7
  database.waits = true
  database.add(...many(200))
  const running = harness.start({ slots: 16, maxDispatches: 2 })
  await clock.advance(2_000)
  expect(database.applied).toHaveLength(200)
  const [, ...calls] = database.calls
  expect(calls.filter(({ results, limit }) => results.length > 0 && limit > 0)).toEqual([])
  expect(calls.every(({ results, routes }) => (results.length > 0) === (routes === false)))
    .toBe(true)
  await stopRun(harness, running)
})

Deno.test('run() routes again soon after a call that left events waiting, also while it reports', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.waits = true
  const running = harness.start({ maxDispatches: 1 })
  await clock.advance(20)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1010, 1020])
  // Another run routes.
  database.waits = null
  await clock.advance(5)
  database.calls.length = 0
  await clock.advance(100)
  expect(database.calls.map(({ at }) => at)).toEqual([1030, 1055, 1080, 1105])
  await stopRun(harness, running)
})

Deno.test('run() reports and routes in one call as soon as nothing waits', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.waits = true
  database.add(...many(4))
  const running = harness.start({ slots: 16 })
  await clock.advance(100)
  database.waits = false
  await clock.advance(100)
  database.add(...many(4))
  await clock.advance(100)
  const last = database.calls.find(({ results, at }) => results.length > 0 && at > 1_200)
  expect(last?.routes).toBe(undefined)
  expect(last?.limit).toBeGreaterThan(0)
  await stopRun(harness, running)
})

Deno.test('a call that only routes says how many results the run still has', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.waits = true
  database.add({})
  const running = harness.start({ slots: 16 })
  await clock.advance(12)
  const [, route] = database.calls
  expect([route?.results, route?.held]).toEqual([[], 1])
  await stopRun(harness, running)
})
