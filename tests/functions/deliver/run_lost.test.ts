import { expect } from '@std/expect'
import { edgeOptions, workerOptions } from '../../../functions/deliver/options.ts'
import { createHarness, many, stopRun } from './harness.ts'

Deno.test('run() repeats a call after a lost response, and sends each delivery once', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add({}, {})
  database.troubles = ['lost', 'unreached', 'lost']
  const running = harness.start()
  await clock.advance(5_000)
  const first = database.calls.slice(0, 4)
  expect(first.map(({ seq }) => seq)).toEqual([1, 1, 1, 1])
  expect(first.map(({ repeat }) => repeat ?? false)).toEqual([false, true, true, true])
  expect(first.map(({ at }) => at)).toEqual([1000, 1050, 1150, 1350])
  expect(sent.map(({ event }) => event)).toEqual(['event-1', 'event-2'])
  expect(database.applied).toHaveLength(2)
  await stopRun(harness, running)
})

Deno.test('run() repeats results after a lost response, and they are applied once', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add({}, {}, {})
  const running = harness.start({ slots: 2 })
  await clock.advance(1)
  database.troubles = ['lost']
  await clock.advance(500)
  expect(sent).toHaveLength(3)
  expect(database.applied).toHaveLength(3)
  expect(database.stale).toEqual([])
  await stopRun(harness, running)
})

Deno.test('run() uses the time that is left of a repeat’s leases', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add({ lease_ms: 20_000 })
  database.troubles = [
    'lost',
    'unreached',
    'unreached',
    'unreached',
    'unreached',
    'unreached',
    'unreached',
  ]
  const running = harness.start()
  await clock.advance(5_200)
  // The repeat that arrives comes 5 s after the claim: too late for 15 s + 1 s in a lease of 20 s.
  expect(sent).toEqual([])
  await clock.advance(100)
  expect(database.applied).toMatchObject([{ outcome: 'released' }])
  await stopRun(harness, running)
})

Deno.test('run() of a worker keeps its results while the database is unavailable', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({ lease_ms: 60_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(15).fill('unreached')
  await clock.advance(40_000)
  expect(database.applied).toMatchObject([{ event: 'event-1', outcome: 'delivered' }])
  expect(harness.summary).toBe(null)
  await stopRun(harness, running)
})

Deno.test('run() of an edge function keeps its results as long as the platform allows', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  database.add({ lease_ms: 20_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(1_000).fill('read_only')
  await clock.advance(110_000)
  expect(harness.summary).toBe(null)
  await clock.advance(15_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database' })
  expect(clock.pending).toBe(0)
})

Deno.test('run() of an edge function without results ends if the database does not respond', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  database.troubles = Array(1_000).fill('unreached')
  const running = harness.start()
  await clock.advance(15_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database' })
})

Deno.test('run() of an edge function that the database refuses ends after the requests in flight', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database, courses } = harness
  courses['event-1'] = { ms: 3_000 }
  database.add({}, {})
  const running = harness.start({ slots: 2 })
  await clock.advance(1)
  database.troubles = ['refused']
  await clock.advance(200)
  expect(harness.summary).toBe(null)
  await clock.advance(3_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database', delivered: 2 })
})

Deno.test('run() of a worker retries slowly when the database refuses it, and logs it once', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({ lease_ms: 600_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(6).fill('refused')
  const before = database.calls.length
  await clock.advance(60_000)
  expect(database.calls.length - before).toBeLessThanOrEqual(5)
  expect(harness.summary).toBe(null)
  await clock.advance(200_000)
  expect(database.applied).toMatchObject([{ event: 'event-1', outcome: 'delivered' }])
  expect(harness.log).toEqual(['error dispatch failed', 'info dispatch responds again'])
  await stopRun(harness, running)
})

Deno.test('run() of a worker waits while the database is read-only, logs it once, and drops nothing', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({ lease_ms: 600_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(100).fill('read_only')
  await clock.advance(300_000)
  expect(database.applied).toMatchObject([{ event: 'event-1', outcome: 'delivered' }])
  expect(harness.log).toEqual(['warn dispatch failed', 'info dispatch responds again'])
  await stopRun(harness, running)
})

Deno.test('run() of a stopping worker ends, even if the database refuses it', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.troubles = Array(1_000).fill('refused')
  const running = harness.start()
  await clock.advance(30_000)
  harness.stop.abort()
  await clock.advance(15_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database' })
})

Deno.test('run() finds one result that the database refuses, and stores all others', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add(...many(20))
  database.isRejected = ({ event, outcome }) => event === 'event-7' && outcome === 'delivered'
  const running = harness.start()
  await clock.advance(2_000)
  expect(database.applied.map(({ event }) => event).sort()).toEqual(
    Array.from({ length: 20 }, (_, n) => `event-${n + 1}`).filter((e) => e !== 'event-7').sort(),
  )
  expect(harness.log.filter((line) => line === 'error result not taken')).toHaveLength(1)
  // The parts of the refused call claim nothing.
  const refused = database.calls.findIndex(({ results }) => results.length > 1)
  const repeated = new Set(database.calls[refused]?.results.map(({ event }) => event))
  const parts = database.calls.slice(refused + 1)
    .filter(({ results }) => results.some(({ event }) => repeated.has(event)))
  expect(parts.length).toBeGreaterThan(4)
  expect(parts.map(({ limit }) => limit)).toEqual(parts.map(() => 0))
  database.add({})
  await clock.advance(2_000)
  expect(database.applied).toHaveLength(20)
  await stopRun(harness, running)
})

Deno.test('run() finds one result that deadlocks each time, and stores all others', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add(...many(20))
  database.isRejected = ({ event }) => event === 'event-7'
  database.rejection = 'deadlock'
  const running = harness.start()
  await clock.advance(60_000)
  expect(database.applied).toHaveLength(19)
  expect(harness.log.filter((line) => line === 'error result not taken')).toHaveLength(1)
  database.add({})
  await clock.advance(2_000)
  expect(database.applied).toHaveLength(20)
  await stopRun(harness, running)
})

Deno.test('run() drops nothing for a few deadlocks', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({ lease_ms: 60_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(7).fill('deadlock')
  await clock.advance(30_000)
  expect(database.applied).toMatchObject([{ event: 'event-1', outcome: 'delivered' }])
  await stopRun(harness, running)
})

Deno.test('run() releases deliveries of an unreadable response, and ends', async () => {
  for (const options of [edgeOptions, workerOptions]) {
    const harness = createHarness(options)
    const { clock, database } = harness
    database.add(...many(3))
    database.troubles = ['unreadable']
    const running = harness.start()
    await clock.advance(10_000)
    expect(await running).toMatchObject({ end: 'unreadable', released: 3, dispatches: 2 })
    expect(harness.sent).toEqual([])
    expect(database.leased).toBe(0)
    expect(database.applied.map(({ outcome }) => outcome))
      .toEqual(['released', 'released', 'released'])
    expect(database.calls.map(({ limit, ended }) => ({ claims: limit > 0, ended })))
      .toEqual([{ claims: true, ended: false }, { claims: false, ended: true }])
  }
})

Deno.test('run() ends if it can read no response', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  courses['event-1'] = { ms: 3_000 }
  database.add(...many(2))
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(50).fill('unreadable')
  await clock.advance(10_000)
  expect(await running).toMatchObject({ end: 'unreadable', delivered: 2 })
  expect(database.leased).toBe(0)
})

Deno.test('run() reports a result again without its texts when the database refuses these', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  courses['event-2'] = { outcome: { outcome: 'delivered', status: 200, response: 'POISON' } }
  database.add(...many(3))
  database.isRejected = (result) => 'response' in result && result.response === 'POISON'
  const running = harness.start()
  await clock.advance(2_000)
  expect(database.applied).toHaveLength(3)
  expect(database.applied.find(({ event }) => event === 'event-2'))
    .toMatchObject({ outcome: 'delivered', status: 200, lossy: true })
  await stopRun(harness, running)
})

Deno.test('run() reports fewer results at a time when a call takes too long', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.latencyMs = 100
  database.mostResults = 3
  database.add(...many(20))
  const running = harness.start()
  await clock.advance(5_000)
  expect(database.applied).toHaveLength(20)
  expect(database.stale).toEqual([])
  expect(Math.max(...database.calls.map(({ results }) => results.length))).toBeGreaterThan(3)
  await stopRun(harness, running)
})

Deno.test('run() names the endpoints that it knows, but not in a repeat', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({})
  const running = harness.start()
  await clock.advance(500)
  database.troubles = ['unreached']
  database.add({})
  await clock.advance(1_000)
  const [first] = database.calls
  const failed = database.calls.findIndex(({ seq }, n) => database.calls[n + 1]?.seq === seq)
  expect(first?.known).toEqual({})
  expect(Object.keys(database.calls[failed]?.known ?? {})).toHaveLength(1)
  expect(database.calls[failed + 1]?.known).toEqual({})
  await stopRun(harness, running)
})

Deno.test('run() of a stopping worker ends if the database does not respond', async () => {
  const harness = createHarness()
  const { clock, database, stop } = harness
  database.add({ lease_ms: 20_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(1_000).fill('unreached')
  await clock.advance(60_000)
  expect(harness.summary).toBe(null)
  stop.abort()
  await clock.advance(30_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database' })
  expect(clock.pending).toBe(0)
})
