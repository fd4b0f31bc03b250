import { expect } from '@std/expect'
import { edgeOptions, type RunOptions } from '../../../functions/deliver/options.ts'
import { createHarness, failure, type Harness, stopRun } from './harness.ts'

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

/** A lane of 8, of 900 ms each, under a lease of 6 s. */
function createSlowLane(base?: RunOptions): Harness {
  const harness = createHarness(base)
  const { database, courses } = harness
  database.endpoint = { timeout_ms: 1_000 }
  const names = Array.from({ length: 8 }, (_, n) => `event-${n + 1}`)
  for (const name of names) {
    courses[name] = { ms: 900 }
    database.add({ lane: 'a', ordered: true, lease_ms: 6_000 })
  }
  return harness
}

Deno.test('run() has the lease of an ordered lane renewed while it goes on', async () => {
  const harness = createSlowLane()
  const { clock, database, sent } = harness
  database.renewMs = 6_000
  const running = harness.start()
  await clock.advance(7_250)
  // Behind what begins at 2.7 s less than 2.5 s of the lease would be left, and at 5.4 s of the next.
  const asked = database.calls.filter(({ results }) =>
    results.some(({ outcome, event }) => outcome === 'renew' && event === 'event-8')
  )
  expect(asked.map(({ at }) => at)).toEqual([3_700, 6_400])
  expect(sent.map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => 100 + 900 * n))
  expect(database.applied.map(({ outcome }) => outcome)).toEqual(Array(8).fill('delivered'))
  await stopRun(harness, running)
})

Deno.test('run() releases the end of an ordered lane whose lease is not renewed', async () => {
  const harness = createSlowLane()
  const { clock, database } = harness
  const running = harness.start()
  // The sixth would begin at 4.5 s, and need 1 s and 1 s of margin.
  await clock.advance(4_550)
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    ...Array(5).fill('delivered'),
    ...Array(3).fill('released'),
  ])
  await stopRun(harness, running)
})

Deno.test('run() releases the end of an ordered lane when the new lease comes too late', async () => {
  const harness = createSlowLane()
  const { clock, database, sent } = harness
  database.renewMs = 4_500
  const running = harness.start()
  await clock.advance(2_690)
  // The new lease counts from before the call at 2.7 s: what begins after 5.2 s does not fit.
  database.latencyMs = 3_000
  await clock.advance(20)
  database.latencyMs = 0
  await clock.advance(3_050)
  expect(sent).toHaveLength(5)
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    ...Array(5).fill('delivered'),
    ...Array(3).fill('released'),
  ])
  await stopRun(harness, running)
})

Deno.test('run() waits for a new lease when the next does not fit into the old one', async () => {
  const harness = createSlowLane()
  const { clock, database, sent } = harness
  database.renewMs = 6_000
  const running = harness.start()
  await clock.advance(2_690)
  database.latencyMs = 3_000
  await clock.advance(20)
  database.latencyMs = 0
  await clock.advance(3_050)
  expect(sent.at(-1)).toEqual({ event: 'event-6', at: 1_000 + 2_700 + 3_000 })
  await stopRun(harness, running)
})

Deno.test('run() has no lease renewed for the last of a lane while that one fits', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  database.endpoint = { timeout_ms: 1_000 }
  database.latencyMs = 3_000
  database.add({ lane: 'a', ordered: true, lease_ms: 6_000 })
  const running = harness.start()
  await clock.advance(3_000)
  expect(sent).toHaveLength(1)
  database.latencyMs = 0
  await clock.advance(3_100)
  expect(database.calls.flatMap(({ results }) => results).map(({ outcome }) => outcome)).toEqual([
    'delivered',
  ])
  await stopRun(harness, running)
})

Deno.test('run() releases a lane that requests a lease when the database is unavailable', async () => {
  const harness = createSlowLane(edgeOptions)
  const { clock, database, sent } = harness
  const running = harness.start()
  await clock.advance(2_690)
  database.troubles.push('refused')
  await clock.advance(1_000)
  expect(sent).toHaveLength(4)
  expect((await running).end).toBe('database')
})

Deno.test('run() releases the end of an ordered lane when the call that requests its lease is divided', async () => {
  const harness = createSlowLane()
  const { clock, database } = harness
  database.renewMs = 6_000
  database.isRejected = ({ outcome }) => outcome === 'renew'
  const running = harness.start()
  await clock.advance(6_000)
  expect(database.applied.map(({ outcome }) => outcome)).toEqual([
    ...Array(5).fill('delivered'),
    ...Array(3).fill('released'),
  ])
  await stopRun(harness, running)
})

Deno.test('run() releases a lane that waits for a lease by its first call after a signal', async () => {
  const harness = createSlowLane()
  const { clock, database, courses } = harness
  database.renewMs = 6_000
  courses['event-9'] = { ms: 2_660 }
  harness.yieldTurn = () => new Promise((resolve) => setTimeout(resolve, 0))
  database.add({ lane: 'b', lease_ms: 6_000 })
  const running = harness.start()
  await clock.advance(2_650)
  // The call with the result of the ninth is on its way when the lease should be renewed.
  database.latencyMs = 3_000
  await clock.advance(2_000)
  database.latencyMs = 0
  harness.stop.abort()
  await clock.advance(2_000)
  await running
  const first = database.calls.find(({ ended }) => ended)
  expect(first?.results.map(({ outcome }) => outcome)).toEqual([
    ...Array(3).fill('delivered'),
    ...Array(3).fill('released'),
  ])
})

Deno.test('run() releases a slow lane at the end of its lease while it has too many outstanding deliveries', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  database.endpoint = { timeout_ms: 3_000 }
  database.renewMs = 8_000
  for (let n = 1; n <= 12; n++) {
    courses[`event-${n}`] = { ms: 2_600 }
    database.add({ lane: n % 2 === 0 ? 'a' : 'b', ordered: true, lease_ms: 8_000 })
  }
  for (let n = 13; n <= 20; n++) {
    courses[`event-${n}`] = { ms: 20_000 }
    database.add({ lease_ms: 30_000 })
  }
  // One organisation alone may not fill a run.
  database.orgOf = (event) => event
  const running = harness.start({ maxOutstanding: 20 })
  // The third of each lane, at 5.2 s, would not end within the lease. The run holds 17 then, so the first lane
  // is released. Then it holds 13, and the other lane goes on.
  await clock.advance(6_000)
  expect(database.applied.map(({ outcome }) => outcome))
    .toEqual([...Array(3).fill('delivered'), ...Array(4).fill('released'), 'delivered'])
  await stopRun(harness, running)
})

for (
  const [limit, settings, change] of [
    ['max_wall', { max_wall_ms: 25_000 }, () => {}],
    ['max_cpu', {}, (harness: Harness) => harness.cpuMs = 1_900],
    ['disabled', {}, ({ database }: Harness) => database.stop = 'disabled'],
  ] as const
) {
  Deno.test(`run() that has claimed max_deliveries ends its lanes at ${limit} all the same`, async () => {
    const harness = createHarness(edgeOptions)
    const { clock, database, courses, sent } = harness
    database.endpoint = { timeout_ms: 15_000 }
    database.renewMs = 20_000
    database.settings = { max_deliveries: 20, ...settings }
    for (let n = 1; n <= 20; n++) {
      courses[`event-${n}`] = { ms: 9_000 }
      database.add({ lane: 'a', ordered: true, lease_ms: 20_000 })
    }
    const running = harness.start()
    await clock.advance(10_000)
    change(harness)
    await clock.advance(290_000)
    await running
    expect(Math.max(...sent.map(({ at }) => at))).toBeLessThanOrEqual(26_000)
    expect(
      database.applied.map(({ outcome }) => outcome).filter((one) => one === 'released').length,
    )
      .toBe(20 - sent.length)
  })
}
