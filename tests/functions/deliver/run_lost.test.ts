import { expect } from '@std/expect'
import { edgeOptions } from '../../../functions/deliver/options.ts'
import { createHarness, stopRun } from './harness.ts'

Deno.test('run() asks again after a lost answer, and sends each delivery once', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add({}, {})
  database.troubles = ['lost', 'unreached', 'lost']
  const running = harness.start()
  await clock.advance(5_000)
  const first = database.calls.slice(0, 4)
  expect(first.map(({ seq }) => seq)).toEqual([1, 1, 1, 1])
  expect(first.map(({ at }) => at)).toEqual([1000, 1050, 1150, 1350])
  expect(sent.map(({ event }) => event)).toEqual(['event-1', 'event-2'])
  expect(database.applied).toHaveLength(2)
  await stopRun(harness, running)
})

Deno.test('run() repeats results whose answer was lost, which are applied once', async () => {
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

Deno.test('run() takes what is left of a repeat’s leases', async () => {
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

Deno.test('run() of a worker keeps its results while the database is away', async () => {
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

Deno.test('run() of an edge function ends when the database stays away beyond the leases', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database } = harness
  database.add({ lease_ms: 20_000 })
  const running = harness.start()
  await clock.advance(1)
  database.troubles = Array(100).fill('unreached')
  await clock.advance(19_000)
  expect(harness.summary).toBe(null)
  await clock.advance(4_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database' })
  expect(clock.pending).toBe(0)
})

Deno.test('run() ends when the database refuses the call, after what is on its way', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  courses['event-1'] = { ms: 3_000 }
  database.add({}, {})
  const running = harness.start({ slots: 2 })
  await clock.advance(1)
  database.troubles = ['refused']
  await clock.advance(100)
  expect(harness.summary).toBe(null)
  await clock.advance(3_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'database', delivered: 2 })
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

Deno.test('run() of a worker that is told to stop gives up a database that stays away', async () => {
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
