import { expect } from '@std/expect'
import { createHarness, stopRun } from './harness.ts'

/** A waker that the test rings. */
function createWaker(): {
  isListening: boolean
  starts: number
  start(): void
  ring(): void
  subscribe(wake: () => void): () => void
  readonly subscribers: number
} {
  const wakes = new Set<() => void>()
  return {
    isListening: true,
    starts: 0,
    start(): void {
      this.starts++
    },
    ring: () => wakes.forEach((wake) => wake()),
    subscribe: (wake) => {
      wakes.add(wake)
      return () => wakes.delete(wake)
    },
    get subscribers() {
      return wakes.size
    },
  }
}

Deno.test('run() dispatches at once when it is woken, and says in each call that it listens', async () => {
  const harness = createHarness()
  const { clock, database, more, sent } = harness
  const waker = createWaker()
  Object.assign(more, { waker })
  const running = harness.start()
  await clock.advance(10)
  expect(database.calls).toMatchObject([{ at: 1000, listens: true }])
  database.add({})
  waker.ring()
  await clock.advance(0)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1010])
  expect(sent).toMatchObject([{ at: 1010 }])
  await stopRun(harness, running)
  expect(waker.subscribers).toBe(0)
})

Deno.test('run() asks once more when it is woken while a call is in flight, and then polls as before', async () => {
  const harness = createHarness()
  const { clock, database, more } = harness
  const waker = createWaker()
  Object.assign(more, { waker })
  const dispatch = database.dispatch
  Object.assign(database, {
    dispatch: (call: Parameters<typeof dispatch>[0]) => {
      if (call.seq === 1) waker.ring()
      return dispatch(call)
    },
  })
  const running = harness.start()
  await clock.advance(0)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1000])
  await clock.advance(25)
  expect(database.calls.map(({ at }) => at)).toEqual([1000, 1000, 1025])
  await stopRun(harness, running)
})

Deno.test('run() waits as long as for a poll after a notification whose work another worker has', async () => {
  const harness = createHarness()
  const { clock, database, more, sent } = harness
  const waker = createWaker()
  Object.assign(more, { waker })
  const running = harness.start()
  await clock.advance(10)
  const times = (): number[] => database.calls.map(({ at }) => at)
  waker.ring()
  await clock.advance(0)
  expect(times()).toEqual([1000, 1010])
  waker.ring()
  await clock.advance(24)
  expect(times()).toEqual([1000, 1010])
  database.add({})
  await clock.advance(1)
  expect(times()).toEqual([1000, 1010, 1035])
  expect(sent).toMatchObject([{ at: 1035 }])
  // Now it has found work, so the next notification counts at once.
  await clock.advance(100)
  const before = times().length
  waker.ring()
  await clock.advance(0)
  expect(times().slice(before)).toEqual([1135])
  await stopRun(harness, running)
})

Deno.test('run() does not say that it listens while nothing would arrive', async () => {
  const harness = createHarness()
  const waker = createWaker()
  waker.isListening = false
  Object.assign(harness.more, { waker })
  const running = harness.start()
  await harness.clock.advance(0)
  expect(harness.database.calls[0]).not.toHaveProperty('listens')
  await stopRun(harness, running)
})

for (const notify of [true, false, undefined]) {
  Deno.test(`run() begins to listen after its first response, if commits notify: ${notify}`, async () => {
    const harness = createHarness()
    const { clock, database, more } = harness
    const waker = createWaker()
    Object.assign(more, { waker })
    Object.assign(database, { settings: { ...database.settings, notify } })
    const running = harness.start()
    expect(waker.starts).toBe(0)
    await clock.advance(0)
    expect(waker.starts).toBe(notify === true ? 1 : 0)
    await stopRun(harness, running)
  })
}
