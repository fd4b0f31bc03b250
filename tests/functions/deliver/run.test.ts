import { expect } from '@std/expect'
import { edgeOptions } from '../../../functions/deliver/options.ts'
import { createHarness, failure, type Harness } from './harness.ts'

/** Stops a worker's run and gives its summary. */
async function stopRun({ stop, clock }: Harness, running: Promise<unknown>): Promise<void> {
  stop.abort()
  await clock.advance(60_000)
  await running
}

function many(count: number): Record<string, never>[] {
  return Array.from({ length: count }, () => ({}))
}

Deno.test('run() sends what it claims at once and records each result', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.add({}, {}, {})
  const running = harness.start()
  await clock.advance(0)
  expect(sent.map(({ at }) => at)).toEqual([1000, 1000, 1000])
  await clock.advance(100)
  expect(database.applied.map(({ outcome }) => outcome)).toEqual(Array(3).fill('delivered'))
  expect(database.applied[0]).toMatchObject({
    event: 'event-1',
    attempt: 1,
    status: 200,
    duration_ms: 10,
  })
  await stopRun(harness, running)
  expect(harness.summary).toMatchObject({ end: 'signal', delivered: 3, failed: 0, released: 0 })
  expect(clock.pending).toBe(0)
})

Deno.test('run() lets results wait for company, but no longer than 20 ms', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 10; i++) courses[`event-${i}`] = { ms: i <= 4 ? i : 900 }
  database.add(...many(10))
  const running = harness.start({ slots: 10 })
  await clock.advance(100)
  // Results after 1, 2, 3 and 4 ms; six slots of ten stay in use, so the oldest result decides: 1 + 20.
  expect(database.calls.slice(0, 2)).toMatchObject([
    { at: 1000, results: [], limit: 10 },
    { at: 1021, results: [{}, {}, {}, {}], limit: 4 },
  ])
  await stopRun(harness, running)
})

Deno.test('run() dispatches at once when half of the slots are free and the queue is full', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 10; i++) courses[`event-${i}`] = { ms: i }
  database.add(...many(30))
  const running = harness.start({ slots: 10 })
  await clock.advance(6)
  expect(database.calls[1]).toMatchObject({ at: 1005, limit: 5 })
  expect(database.calls[1]?.results).toHaveLength(5)
  await stopRun(harness, running)
})

Deno.test('run() leaves 5 ms between dispatches while the queue is not full', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  courses['event-1'] = { ms: 1 }
  database.add({})
  const running = harness.start()
  await clock.advance(10)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1005])
  await stopRun(harness, running)
})

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

Deno.test('run() gives a slot away after 100 ms, and takes no more in hand than it may', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 20; i++) courses[`event-${i}`] = { ms: 14_000 }
  database.add(...many(20))
  const running = harness.start({ slots: 4, maxInHand: 10 })
  await clock.advance(1_000)
  expect(sent.map(({ at }) => at)).toEqual([
    ...Array(4).fill(1000),
    ...Array(4).fill(1100),
    ...Array(2).fill(1200),
  ])
  expect(database.leased).toBe(10)
  // The first four end at 15.0 s and make room for four more.
  await clock.advance(13_050)
  expect(sent).toHaveLength(14)
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

Deno.test('run() looks every 25 ms for 5 s, then four times within the interval that is set', async () => {
  for (const [poll_ms, looks] of [[1_000, 40], [10_000, 4], [60, 400]] as const) {
    const harness = createHarness()
    const { clock, database } = harness
    database.settings = { poll_ms }
    const running = harness.start()
    await clock.advance(4_990)
    expect(database.calls).toHaveLength(200)
    await clock.advance(2_510)
    const before = database.calls.length
    await clock.advance(10_000)
    expect(database.calls.length - before).toBe(looks)
    await stopRun(harness, running)
  }
})

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
    { ended: true, limit: 64, results: [] },
    { ended: true, limit: 0, results: [{ event: 'event-1', outcome: 'delivered' }] },
  ])
  expect(harness.summary).toMatchObject({ end: 'idle', delivered: 1 })
  expect(clock.pending).toBe(0)
})

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

Deno.test('run() releases the end of an ordered lane whose lease has become too short', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  database.endpoint = { timeout_ms: 1_000 }
  const lane = { lane: 'a', ordered: true, lease_ms: 3_500 }
  for (const event of ['event-1', 'event-2', 'event-3']) courses[event] = { ms: 900 }
  database.add(lane, lane, lane)
  const running = harness.start({ slots: 3 })
  await clock.advance(1_850)
  // At 1.8 s the third would need 1 s + 1 s of margin, and 1.7 s are left.
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    'delivered',
    'delivered',
    'released',
  ])
  await stopRun(harness, running)
})

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

Deno.test('run() of an edge function stops claiming when its CPU is used up and gives the rest back', async () => {
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
  database.settings = { max_deliveries: 100 }
  database.add(...many(150))
  const running = harness.start()
  await clock.advance(5_000)
  await running
  expect(harness.summary).toMatchObject({ end: 'max_deliveries', delivered: 100 })
  expect(database.waiting).toBe(50)
  expect(database.leased).toBe(0)
})

Deno.test('run() finishes what is on its way after a signal and gives the rest back', async () => {
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

Deno.test('run() gives back what a dispatch brings after the signal', async () => {
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

Deno.test('run() makes a failed attempt of a sender’s bug and of an unknown kind', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  Object.defineProperty(courses, 'event-1', {
    get: () => {
      throw new Error('a bug')
    },
  })
  database.add({})
  const running = harness.start()
  await clock.advance(50)
  database.endpoint = { kind: 'pigeon' }
  database.add({})
  await clock.advance(50)
  expect(database.applied).toMatchObject([
    { outcome: 'failed', error_class: 'protocol', error: expect.not.stringContaining('a bug') },
    { outcome: 'failed', error_class: 'protocol', error: expect.stringContaining('pigeon') },
  ])
  await stopRun(harness, running)
})
