import { expect } from '@std/expect'
import { createHarness, failure, stopRun } from './harness.ts'

Deno.test('run() sends an ordered lane one by one and other lanes beside it', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  const a = { lane: 'a', ordered: true, lease_ms: 60_000 }
  database.add(a, { lane: 'b', ordered: true }, a, a)
  const running = harness.start()
  await clock.advance(100)
  expect(sent).toEqual([
    { event: 'event-1', at: 1000 },
    { event: 'event-2', at: 1000 },
    { event: 'event-3', at: 1010 },
    { event: 'event-4', at: 1020 },
  ])
  await stopRun(harness, running)
})

Deno.test('run() releases the rest of an ordered lane after a failure', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  const lane = { lane: 'a', ordered: true, lease_ms: 60_000 }
  courses['event-2'] = { outcome: failure }
  database.add(lane, lane, lane, lane)
  const running = harness.start({ slots: 4 })
  await clock.advance(21)
  expect(sent.map(({ event }) => event)).toEqual(['event-1', 'event-2'])
  await clock.advance(20)
  expect(database.applied.map(({ outcome }) => outcome))
    .toEqual(['delivered', 'failed', 'released', 'released'])
  await stopRun(harness, running)
})

Deno.test('run() releases unsent what cannot finish within its lease', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.latencyMs = 4_500
  database.add({ lease_ms: 20_000 })
  const running = harness.start()
  // The lease counts from before the call: 4.5 s are gone, 15 s + 1 s do not fit into the rest.
  await clock.advance(4_600)
  expect(sent).toEqual([])
  await clock.advance(9_000)
  expect(database.applied).toMatchObject([{ event: 'event-1', outcome: 'released' }])
  await stopRun(harness, running)
})

const slowLane = { lane: 'a', ordered: true, lease_ms: 3_500 }

Deno.test('run() has the lease of an ordered lane renewed before it is too short for the next', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  database.endpoint = { timeout_ms: 1_000 }
  database.renewMs = 3_500
  for (const event of ['event-1', 'event-2', 'event-3', 'event-4']) courses[event] = { ms: 900 }
  database.add(slowLane, slowLane, slowLane, slowLane)
  const running = harness.start({ slots: 4 })
  // At 1.8 s the third would need 1 s + 1 s of margin, and 1.7 s are left.
  await clock.advance(1_799)
  expect(database.calls.flatMap(({ results }) => results)).toHaveLength(1)
  await clock.advance(1)
  expect(sent.at(-1)).toEqual({ event: 'event-3', at: 2_800 })
  const asked = database.calls.flatMap(({ results }) => results)
    .filter(({ outcome }) => outcome === 'renew')
  expect(asked.map(({ event }) => event)).toEqual(['event-3', 'event-4'])
  await clock.advance(1_850)
  expect(database.applied.map(({ outcome }) => outcome))
    .toEqual(['delivered', 'delivered', 'delivered', 'delivered'])
  await stopRun(harness, running)
})

Deno.test('run() releases the end of an ordered lane whose lease is not renewed', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  database.endpoint = { timeout_ms: 1_000 }
  for (const event of ['event-1', 'event-2', 'event-3']) courses[event] = { ms: 900 }
  database.add(slowLane, slowLane, slowLane)
  const running = harness.start({ slots: 3 })
  await clock.advance(1_870)
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    'delivered',
    'delivered',
    'released',
  ])
  await stopRun(harness, running)
})

Deno.test('run() releases the end of an ordered lane when the renewed lease comes too late', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  database.endpoint = { timeout_ms: 1_000 }
  database.renewMs = 3_500
  for (const event of ['event-1', 'event-2', 'event-3']) courses[event] = { ms: 900 }
  database.add(slowLane, slowLane, slowLane)
  const running = harness.start({ slots: 3 })
  await clock.advance(1_790)
  // The new lease counts from before the call: of 3.5 s an answer after 1.6 s leaves too little.
  database.latencyMs = 1_600
  await clock.advance(20)
  database.latencyMs = 0
  await clock.advance(1_700)
  expect(sent).toHaveLength(2)
  expect(database.applied.at(-1)).toMatchObject({ event: 'event-3', outcome: 'released' })
  await stopRun(harness, running)
})

Deno.test('run() lets a lane that waits for a lease go when the database has gone', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  database.endpoint = { timeout_ms: 1_000 }
  for (const event of ['event-1', 'event-2', 'event-3']) courses[event] = { ms: 900 }
  database.add(slowLane, slowLane, slowLane)
  const running = harness.start({ slots: 3 })
  await clock.advance(1_790)
  database.troubles.push('refused')
  await clock.advance(100)
  expect(sent).toHaveLength(2)
  expect((await running).end).toBe('database')
})
