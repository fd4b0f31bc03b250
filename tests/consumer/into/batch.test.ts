import { expect } from '@std/expect'
import { type Carried, processBatch } from '../../../consumer/into/batch.ts'
import type { CarriedEvent } from '../../../consumer/into/event.ts'
import type { Taken } from '../../../consumer/inbox.ts'
import type { Processed } from '../../../consumer/message.ts'
import { createFakeClock, type FakeClock } from '../../functions/deliver/fake_clock.ts'
import { sampleMessage } from '../samples.ts'

function carried(...ids: string[]): Carried[] {
  return ids.map((id) => ({
    message: sampleMessage({ id }),
    event: id.startsWith('bad') ? 'The message is not JSON' : {
      id,
      type: 'a.b',
      org_id: 'o',
      body: '{}',
      partition_key: null,
      correlation_id: null,
      idempotency_key: null,
      traceparent: null,
    },
  }))
}

type Scene = {
  clock: FakeClock
  stop: AbortController
  /** The ids of each call. */
  calls: string[]
  dead: string[]
  result: Promise<Processed[]>
}

/** Processes a batch with a database that says this. */
function play(batch: Carried[], take: (ids: string[], call: number) => Taken): Scene {
  const clock = createFakeClock()
  const stop = new AbortController()
  const calls: string[] = []
  const dead: string[] = []
  const result = processBatch(batch, {
    name: 'eu-1',
    take(events: readonly CarriedEvent[]): Promise<Taken> {
      const ids = events.map(({ id }) => id)
      calls.push(ids.join(' '))
      return Promise.resolve(take(ids, calls.length))
    },
    publishDead({ message, error, retryCount }): Promise<void> {
      dead.push(`${message.id} ${retryCount} ${error}`)
      return Promise.resolve()
    },
    report: () => Promise.resolve({ kind: 'done' }),
    clock,
    random: () => 0.5,
    log: () => {},
  }, stop.signal)
  return { clock, stop, calls, dead, result }
}

const allTaken = (ids: string[]): Taken => ({
  kind: 'taken',
  outcomes: ids.map(() => ({ outcome: 'taken' })),
})

Deno.test('processBatch() publishes the events of a batch in one call', async () => {
  const { result, calls } = play(carried('a', 'b', 'c'), (ids) => ({
    kind: 'taken',
    outcomes: ids.map((id) => ({ outcome: id === 'b' ? 'known' : 'taken' })),
  }))
  expect(await result).toEqual(['done', 'known', 'done'])
  expect(calls).toEqual(['a b c'])
})

Deno.test('processBatch() makes dead letters of what is no event and of what the database refuses, at once', async () => {
  const { result, calls, dead } = play(carried('bad-1', 'a', 'b', 'bad-2', 'c'), (ids) => ({
    kind: 'taken',
    outcomes: ids.map((id) =>
      id === 'b' ? { outcome: 'refused', error: 'type is wrong' } : { outcome: 'taken' }
    ),
  }))
  expect(await result).toEqual(['dead', 'done', 'dead', 'dead', 'done'])
  expect(calls).toEqual(['a b c'])
  expect(dead).toEqual([
    'bad-1 1 The message is not JSON',
    'b 1 type is wrong',
    'bad-2 1 The message is not JSON',
  ])
})

Deno.test('processBatch() waits while the database is unavailable, for longer each time', async () => {
  const away: Taken = { kind: 'unavailable', error: 'refused' }
  const { result, calls, clock } = play(
    carried('a', 'b'),
    (ids, call) => call < 9 ? away : allTaken(ids),
  )
  const begunAt = clock.now()
  const at: number[] = []
  while (calls.length < 9) {
    at[calls.length - 1] ??= clock.now() - begunAt
    await clock.advance(1_000)
  }
  expect(await result).toEqual(['done', 'done'])
  expect(at).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000])
})

Deno.test('processBatch() gives each message attempts of its own after an error of the whole batch', async () => {
  const { result, calls, dead, clock } = play(
    carried('a', 'b', 'c'),
    (ids) =>
      ids.includes('b') ? { kind: 'failed', error: 'out of range', isFinal: false } : allTaken(ids),
  )
  let over = false
  result.then(() => over = true)
  while (!over) await clock.advance(1_000)
  expect(await result).toEqual(['done', 'dead', 'done'])
  expect(calls).toEqual(['a b c', 'a', ...Array(6).fill('b'), 'c'])
  expect(dead).toEqual(['b 6 out of range'])
})

Deno.test('processBatch() ends between two attempts after the signal, without a result', async () => {
  const { result, stop, clock } = play(
    carried('a', 'b'),
    () => ({ kind: 'unavailable', error: 'refused' }),
  )
  await clock.advance(500)
  stop.abort()
  expect(await result).toEqual(['stopped', 'stopped'])
})
