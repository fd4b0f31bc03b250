import { expect } from '@std/expect'
import { edgeOptions } from '../../../functions/deliver/options.ts'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() ends an idle edge run, and delivers what its last dispatch brings', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  const running = harness.start()
  await clock.advance(4_990)
  expect(database.calls.every(({ ended }) => !ended)).toBe(true)
  database.add({})
  database.calls.length = 0
  // The look at 5.000 s is the last one.
  await clock.advance(1_000)
  await running
  expect(database.calls).toMatchObject([
    { ended: true, limit: edgeOptions.slots, results: [] },
    { ended: true, limit: 0, results: [{ event: 'event-1', outcome: 'delivered' }] },
  ])
  expect(harness.summary).toMatchObject({ end: 'idle', delivered: 1 })
  expect(clock.pending).toBe(0)
})

Deno.test('run() of an edge function stops claiming at its wall clock and records what is on its way', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database, courses } = harness
  database.settings = { max_wall_ms: 2_000 }
  const lane = { lane: 'a', ordered: true, lease_ms: 60_000 }
  courses['event-1'] = { ms: 3_000 }
  database.add(lane, lane)
  const running = harness.start()
  await clock.advance(2_001)
  const last = database.calls.at(-1)
  expect(last).toMatchObject({ limit: 0, ended: true })
  database.add({})
  await clock.advance(2_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'max_wall', delivered: 1, released: 1 })
  expect(database.applied.map(({ outcome }) => outcome)).toEqual(['delivered', 'released'])
  expect(database.waiting).toBe(1)
})

Deno.test('run() of an edge function stops claiming when its CPU time is used, and releases the rest', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database, courses, sent } = harness
  harness.cpuMs = 700
  const lane = { lane: 'a', ordered: true, lease_ms: 60_000 }
  courses['event-1'] = { ms: 60 }
  database.add(lane, lane)
  const running = harness.start()
  await clock.advance(30)
  harness.cpuMs = 700 + 1_500
  await clock.advance(1_000)
  await running
  expect(sent.map(({ event }) => event)).toEqual(['event-1'])
  expect(database.applied.map(({ outcome }) => outcome)).toEqual(['delivered', 'released'])
  expect(database.calls.at(-1)).toMatchObject({ limit: 0, ended: true })
  expect(harness.summary).toMatchObject({ end: 'max_cpu' })
})

Deno.test('run() of an edge function claims no more than its number of deliveries', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  database.settings = { max_deliveries: 400 }
  database.add(...many(500))
  const running = harness.start()
  await clock.advance(5_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'max_deliveries', delivered: 400 })
  expect(database.waiting).toBe(100)
  expect(database.leased).toBe(0)
})

Deno.test('run() finishes sends in flight after a signal and releases the rest', async () => {
  const harness = createHarness()
  const { clock, database, courses, stop } = harness
  const lane = { lane: 'a', ordered: true, lease_ms: 60_000 }
  courses['event-1'] = { ms: 500 }
  database.add(lane, lane, lane)
  const running = harness.start()
  await clock.advance(100)
  stop.abort()
  await clock.advance(1_000)
  await running
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    'delivered',
    'released',
    'released',
  ])
  expect(database.calls.at(-1)).toMatchObject({ ended: true, limit: 0 })
  expect(database.leased).toBe(0)
  expect(clock.pending).toBe(0)
})

Deno.test('run() releases deliveries that a dispatch claims after the signal', async () => {
  const harness = createHarness()
  const { clock, database, sent, stop } = harness
  database.latencyMs = 50
  database.add({}, {})
  const running = harness.start()
  await clock.advance(10)
  stop.abort()
  await clock.advance(1_000)
  await running
  expect(sent).toEqual([])
  expect(database.applied.map(({ outcome }) => outcome)).toEqual(['released', 'released'])
})

Deno.test('run() ends at once when there are too many runs', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  database.stop = 'too_many_runs'
  const running = harness.start()
  await clock.advance(1)
  await running
  expect(database.calls).toHaveLength(1)
  expect(harness.summary).toMatchObject({ end: 'stop:too_many_runs' })
})

Deno.test('run() of a worker does not end when there is no work', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  const running = harness.start()
  await clock.advance(60_000)
  expect(harness.summary).toBe(null)
  database.add({})
  await clock.advance(1_000)
  expect(database.applied).toHaveLength(1)
  await stopRun(harness, running)
})

Deno.test('run() of an edge function that has claimed its share sends it', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database, courses } = harness
  database.settings = { max_deliveries: 3 }
  const lane = { lane: 'a', ordered: true, lease_ms: 60_000 }
  courses['event-1'] = { ms: 1_000 }
  database.add(lane, lane, lane, lane)
  const running = harness.start({ maxDeliveries: 3 })
  await clock.advance(5_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'max_deliveries', delivered: 3, released: 0 })
})
