import { expect } from '@std/expect'
import { edgeOptions, type RunOptions } from '../../../functions/deliver/options.ts'
import { fittingIn } from '../../../functions/deliver/turn.ts'
import { createHarness, type Harness, many, stopRun } from './harness.ts'

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
  const running = harness.start({ slots: 11 })
  await clock.advance(100)
  // Results after 1, 2, 3 and 4 ms; six slots of eleven stay in use, so the oldest result decides: 1 + 20.
  expect(database.calls.slice(0, 2)).toMatchObject([
    { at: 1000, results: [], limit: 11 },
    { at: 1021, results: [{}, {}, {}, {}], limit: 5 },
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

Deno.test('run() lets results wait up to 50 ms for company while the queue is full', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 10; i++) courses[`event-${i}`] = { ms: i === 1 ? 1 : 900 }
  database.add(...many(20))
  const running = harness.start({ slots: 10, slowMs: 1_000 })
  await clock.advance(800)
  expect(database.calls[1]).toMatchObject({ at: 1050, results: [{}], limit: 1 })
  await stopRun(harness, running)
})

Deno.test('run() dispatches at once after a claim that the database has cut, and waits after one that it has not', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 5; i++) courses[`event-${i}`] = { ms: 900 }
  database.latencyMs = 3
  database.mostClaimed = 2
  database.add(...many(5))
  const running = harness.start({ slots: 100, slowMs: 1_000 })
  await clock.advance(40)
  // The third claim has one delivery, so nothing is left: the next call is a poll.
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1003, 1006, 1034])
  await stopRun(harness, running)
})

Deno.test('run() fills no more than half of its slots by claims that the database has cut', async () => {
  const harness = createHarness()
  const { clock, database, courses } = harness
  for (let i = 1; i <= 30; i++) courses[`event-${i}`] = { ms: 900 }
  database.latencyMs = 3
  database.mostClaimed = 2
  database.add(...many(30))
  const running = harness.start({ slots: 10, slowMs: 1_000 })
  await clock.advance(20)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1003, 1006])
  await stopRun(harness, running)
})

Deno.test('run() of an edge function dispatches when nearly all of its slots are free', async () => {
  const harness = createHarness(edgeOptions)
  const { clock, database, courses } = harness
  for (let i = 1; i <= 16; i++) courses[`event-${i}`] = { ms: i }
  database.add(...many(40))
  const running = harness.start({ slots: 16 })
  await clock.advance(15)
  expect(database.calls[1]).toMatchObject({ at: 1014, limit: 14 })
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

/** A run whose first call has taken 2 ms, and whose next ones take so long. */
async function startBusy(
  latencyMs: number,
  options: Partial<RunOptions> = {},
): Promise<{ harness: Harness; running: ReturnType<Harness['start']> }> {
  const harness = createHarness()
  harness.database.latencyMs = 2
  const running = harness.start(options)
  await harness.clock.advance(10)
  harness.database.latencyMs = latencyMs
  return { harness, running }
}

/** When each call began after the first of those that claimed, and how many results it had. */
function callsAfterClaim({ database }: Harness): [at: number, results: number][] {
  const [, claim, ...others] = database.calls
  return others.map(({ at, results }) => [at - (claim?.at ?? NaN), results.length])
}

Deno.test('run() leaves as long between dispatches as the last one took longer than the fastest, but at most 50 ms', async () => {
  for (const [latencyMs, pause] of [[2, 5], [12, 10], [40, 38], [300, 50]] as const) {
    const { harness, running } = await startBusy(latencyMs)
    harness.courses['event-1'] = { ms: 1 }
    harness.database.add({})
    await harness.clock.advance(400)
    expect(callsAfterClaim(harness)[0]).toEqual([latencyMs + pause, 1])
    await harness.clock.advance(1_000)
    await stopRun(harness, running)
  }
})

Deno.test('run() lets results wait for the dispatch in flight while the queue is not full', async () => {
  const { harness, running } = await startBusy(40, { maxDispatches: 2 })
  ;[1, 2, 48].forEach((ms, n) => harness.courses[`event-${n + 1}`] = { ms })
  harness.database.add(...many(3))
  await harness.clock.advance(160)
  // The third result comes 10 ms after the second call began, and waits for 38 ms.
  expect(callsAfterClaim(harness).slice(0, 2)).toEqual([[78, 2], [126, 1]])
  await stopRun(harness, running)
})

Deno.test('run() lets enough results not wait for the dispatch in flight', async () => {
  for (const [enoughResults, second] of [[5, 88], [6, 126]] as const) {
    const { harness, running } = await startBusy(40, { enoughResults, maxDispatches: 2 })
    for (let i = 1; i <= 6; i++) harness.courses[`event-${i}`] = { ms: i === 1 ? 1 : 48 }
    harness.database.add(...many(6))
    await harness.clock.advance(160)
    expect(callsAfterClaim(harness).slice(0, 2)).toEqual([[78, 1], [second, 5]])
    await stopRun(harness, running)
  }
})

Deno.test('run() polls every 25 ms for 5 s, then four times within the configured interval', async () => {
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

Deno.test('run() starts 16 sends at a time, and yields to the event loop between them', async () => {
  const harness = createHarness()
  const { clock, database, sent } = harness
  const turns: (() => void)[] = []
  harness.yieldTurn = () => new Promise((resolve) => void turns.push(resolve))
  database.add(...many(38))
  const running = harness.start()
  for (const begun of [16, 32, 38]) {
    await clock.advance(0)
    expect(sent).toHaveLength(begun)
    turns.shift()?.()
  }
  expect(turns).toEqual([])
  await stopRun(harness, running)
})

Deno.test('run() releases what it has not begun when a signal comes, and ends after that', async () => {
  const harness = createHarness()
  const { clock, database, sent, stop } = harness
  const turns: (() => void)[] = []
  harness.yieldTurn = () => new Promise((resolve) => void turns.push(resolve))
  database.add(...many(70))
  const running = harness.start()
  await clock.advance(0)
  stop.abort()
  await clock.advance(1_000)
  expect(harness.summary).toBe(null)
  while (turns.length > 0) {
    turns.shift()?.()
    await clock.advance(0)
  }
  await clock.advance(1_000)
  await running
  expect(sent).toHaveLength(16)
  expect(harness.summary).toMatchObject({ end: 'signal', delivered: 16, released: 54 })
})

Deno.test('run() has 64 sends in flight while responses come within 2 ms', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 100; i++) courses[`event-${i}`] = { ms: i <= 40 ? 1 : 500 }
  database.add(...many(100))
  const running = harness.start()
  await clock.advance(0)
  expect(sent).toHaveLength(64)
  await clock.advance(1)
  // Of 40 answers 32 were a step each. The last 8 leave 56 on their way, too many for another.
  expect(sent).toHaveLength(96)
  await stopRun(harness, running)
})

Deno.test('run() starts twice as many sends after each 2 ms without a response', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 300; i++) courses[`event-${i}`] = { ms: 14_000 }
  database.add(...many(300))
  const running = harness.start()
  for (const begun of [64, 96, 160, 288, 300]) {
    await clock.advance(0)
    expect(sent).toHaveLength(begun)
    await clock.advance(2)
  }
  await stopRun(harness, running)
})

Deno.test('run() counts no send as on its way that is slow', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  for (let i = 1; i <= 64; i++) courses[`event-${i}`] = { ms: 14_000 }
  database.add(...many(64))
  const running = harness.start()
  await clock.advance(100)
  database.add(...many(64))
  await clock.advance(25)
  expect(sent).toHaveLength(128)
  expect(new Set(sent.slice(64).map(({ at }) => at)).size).toBe(1)
  await stopRun(harness, running)
})

Deno.test('run() claims at most one batch at a time, and claims again after a full one', async () => {
  const harness = createHarness()
  const { clock, database, courses, sent } = harness
  database.settings = { batch_size: 20 }
  for (let i = 1; i <= 61; i++) courses[`event-${i}`] = { ms: 1 }
  database.add({})
  const running = harness.start()
  await clock.advance(30)
  database.add(...many(60))
  database.calls.length = 0
  await clock.advance(35)
  const begunAt = sent[1]?.at ?? 0
  expect(sent.filter(({ at }) => at < begunAt + 5)).toHaveLength(61)
  expect(new Set(database.calls.map(({ limit }) => limit))).toEqual(new Set([20]))
  await stopRun(harness, running)
})

Deno.test('run() of a worker polls every 25 ms, every 250 ms after 5 s without work, and every 300 ms after a minute', async () => {
  const harness = createHarness()
  const { clock, database } = harness
  database.add({})
  const running = harness.start()
  await clock.advance(70_000)
  const pauses = database.calls.map(({ at }, n) => at - (database.calls[n - 1]?.at ?? at))
  const pausesAt = (from: number, to: number): number[] => [
    ...new Set(pauses.filter((_, n) => {
      const at = database.calls[n]?.at ?? 0
      return at > 1_000 + from && at <= 1_000 + to
    })),
  ]
  expect(pausesAt(1_000, 5_000)).toEqual([25])
  expect(pausesAt(6_000, 59_000)).toEqual([250])
  expect(pausesAt(61_000, 70_000)).toEqual([300])
  // Work makes it busy again.
  database.add({})
  await clock.advance(1_000)
  const [last = 0, before = 0] = database.calls.toReversed().map(({ at }) => at)
  expect(last - before).toBe(25)
  await stopRun(harness, running)
})

Deno.test('run() of a resting worker calls within kick.quiet_ms, also if each call takes 190 ms', async () => {
  const settings = await Deno.readTextFile(
    new URL('../../../sql/foundation/setting.sql', import.meta.url),
  )
  const quietMs = Number(/'kick\.quiet_ms', '(\d+)'/.exec(settings)?.[1])
  const harness = createHarness()
  const { clock, database } = harness
  database.latencyMs = 190
  const running = harness.start()
  await clock.advance(70_000)
  const times = database.calls.map(({ at }) => at).slice(-10)
  // A commit at any moment finds a call that is newer than this.
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0))
  expect(Math.max(...gaps)).toBeLessThan(quietMs)
  await stopRun(harness, running)
})

Deno.test('run() starts fewer sends together when their bodies are large', async () => {
  const sizes = { stepSize: 1, windowStep: 4 }
  for (
    const [options, steps] of [[sizes, Array(10).fill(1)], [{ windowStep: 4 }, [4, 4, 2]]] as const
  ) {
    const harness = createHarness()
    const { clock, database, sent } = harness
    const sentBefore: number[] = []
    harness.yieldTurn = () => Promise.resolve(void sentBefore.push(sent.length))
    database.add(...many(10))
    const running = harness.start(options)
    await clock.advance(0)
    await stopRun(harness, running)
    const counts = [...sentBefore.slice(0, steps.length - 1), 10]
    expect(counts.map((count, n) => count - (counts[n - 1] ?? 0))).toEqual([...steps])
  }
})

Deno.test('fittingIn() takes the sizes up to the one that reaches the limit, and at least one', () => {
  expect(fittingIn(10, [4, 4, 4, 4])).toBe(3)
  expect(fittingIn(8, [4, 4, 4])).toBe(2)
  expect(fittingIn(10, [4, 4])).toBe(2)
  expect(fittingIn(10, [40, 1])).toBe(1)
})
