import { expect } from '@std/expect'
import { delayMs } from '../../consumer/schedule.ts'
import type { DeadMessage, Handled } from '../../consumer/message.ts'
import type { Processed } from '../../consumer/message.ts'
import { processMessage } from '../../consumer/process.ts'
import { createFakeClock, type FakeClock } from '../functions/deliver/fake_clock.ts'
import { sampleMessage } from './samples.ts'

type Scene = {
  clock: FakeClock
  stop: AbortController
  /** When each try was made, in ms from the first, and what was done with dead letters. */
  attempts: number[]
  done: string[]
  dead: DeadMessage[]
  result: Promise<Processed>
}

const failed: Handled = { kind: 'failed', error: 'no such customer', isFinal: false }
const away: Handled = { kind: 'unavailable', error: 'connection refused' }

/** Processes a message whose attempts end as said, the last of them again and again. */
function play(outcomes: Handled[], broken: string[] = []): Scene {
  const clock = createFakeClock()
  const stop = new AbortController()
  const begunAt = clock.now()
  const attempts: number[] = []
  const done: string[] = []
  const dead: DeadMessage[] = []
  const publishDead = (letter: DeadMessage): Promise<void> => {
    done.push('publishDead')
    if (broken.shift() === 'publishDead') return Promise.reject(new Error('not now'))
    dead.push(letter)
    return Promise.resolve()
  }
  const report = (): Promise<Handled> => {
    done.push('report')
    const reported = broken.shift()
    return Promise.resolve(
      reported === 'away' ? away : reported === 'refused' ? failed : { kind: 'done' },
    )
  }
  const result = processMessage(sampleMessage(), {
    handle: () => {
      attempts.push(clock.now() - begunAt)
      return Promise.resolve(outcomes[attempts.length - 1] ?? outcomes.at(-1) ?? failed)
    },
    publishDead,
    report,
    clock,
    random: () => 0.5,
    log: () => {},
  }, stop.signal)
  return { clock, stop, attempts, done, dead, result }
}

Deno.test('processMessage() is done with the first try that succeeds', async () => {
  const { result, attempts } = play([{ kind: 'done' }])
  expect(await result).toBe('done')
  expect(attempts).toEqual([0])
  expect(await play([{ kind: 'known' }]).result).toBe('known')
})

Deno.test('processMessage() tries six times on the relay schedule, then writes the dead letter', async () => {
  const { clock, result, attempts, done, dead } = play([failed])
  await clock.advance(60_000)
  expect(await result).toBe('dead')
  expect(attempts).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000])
  expect(delayMs(5, 0.5)).toBe(16_000)
  expect(done).toEqual(['publishDead', 'report'])
  expect(dead).toMatchObject([{ error: 'no such customer', retryCount: 6 }])
})

Deno.test('processMessage() gives up at once what another try would not change', async () => {
  const { result, attempts, dead } = play([{ ...failed, isFinal: true }])
  expect(await result).toBe('dead')
  expect(attempts).toEqual([0])
  expect(dead).toMatchObject([{ retryCount: 1 }])
})

Deno.test('processMessage() counts no try while the database is away', async () => {
  const aways = Array.from({ length: 20 }, () => away)
  const { clock, result, attempts, dead } = play([failed, ...aways, failed])
  await clock.advance(120_000)
  expect(await result).toBe('dead')
  expect(attempts).toHaveLength(26)
  expect(dead).toMatchObject([{ retryCount: 6 }])
})

Deno.test('processMessage() writes the dead letter until it is there, and then tells of it', async () => {
  const { clock, result, done, dead } = play(
    [{ ...failed, isFinal: true }],
    ['publishDead', 'publishDead', '', 'away'],
  )
  await clock.advance(10_000)
  expect(await result).toBe('dead')
  expect(done).toEqual(['publishDead', 'publishDead', 'publishDead', 'report', 'report'])
  expect(dead).toHaveLength(1)
})

Deno.test('processMessage() reports a dead letter until the database has it, unless the database refuses it three times', async () => {
  const aways = Array(20).fill('away')
  const waiting = play([{ ...failed, isFinal: true }], ['', ...aways])
  await waiting.clock.advance(60_000)
  expect(await waiting.result).toBe('dead')
  expect(waiting.done).toHaveLength(1 + 21)

  const refused = play([{ ...failed, isFinal: true }], ['', ...Array(20).fill('refused')])
  await refused.clock.advance(60_000)
  expect(await refused.result).toBe('dead')
  expect(refused.done).toEqual(['publishDead', 'report', 'report', 'report'])
})

Deno.test('processMessage() stops between two attempts, and leaves the message to come again', async () => {
  const { clock, stop, result, attempts, done } = play([failed])
  await clock.advance(1_500)
  stop.abort()
  expect(await result).toBe('stopped')
  expect([attempts, done]).toEqual([[0, 1_000], []])
  expect(clock.pending).toBe(0)

  const burying = play([{ ...failed, isFinal: true }], Array(100).fill('publishDead'))
  await burying.clock.advance(3_500)
  burying.stop.abort()
  expect(await burying.result).toBe('stopped')
})
