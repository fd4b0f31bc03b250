import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { replayTopic } from '../../consumer/kafka/replay.ts'
import { replayQueue } from '../../consumer/rabbitmq/replay.ts'
import { NotRecorded, recordPublished } from '../../consumer/record.ts'
import type { Recovery } from '../../consumer/recovery.ts'
import { createFakeClock } from '../functions/deliver/fake_clock.ts'

const event = {
  ...{ id: 'e-1', endpointId: 'p-1', type: 'order.paid', correlationId: 'c-1' },
  ...{ idempotencyKey: null, exchange: null, key: null },
}

const noDatabase = (): Promise<void> => Promise.reject(new Error('no database'))

/** A database that records nothing for `failures` calls. */
function createRecovery(failures: number): Recovery & { recorded: unknown[] } {
  const recorded: unknown[] = []
  return {
    recorded,
    claim: () => Promise.resolve({ kind: 'claimed' }),
    record: (event, isPublished) => {
      recorded.push([event?.id, isPublished])
      return recorded.length <= failures ? noDatabase() : Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

Deno.test('recordPublished() repeats the record after 1, 2, 4 and 8 s, until the database takes it', async () => {
  const clock = createFakeClock()
  const recovery = createRecovery(4)
  const times: number[] = []
  const { record } = recovery
  recovery.record = (...call) => {
    times.push(clock.now())
    return record(...call)
  }
  const lines: unknown[] = []
  const recording = recordPublished(recovery, event, {
    clock,
    stop: new AbortController().signal,
    log: (level, message, fields) => lines.push([level, message, fields]),
  })
  await clock.advance(20_000)
  await recording
  expect(times).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
  expect(lines).toEqual([1, 2, 3, 4].map((attempt) => [
    'warn',
    'published, but not recorded',
    { event: 'e-1', attempt, error: 'no database' },
  ]))
})

Deno.test('recordPublished() rejects after the fifth attempt, and says what is published and how to record it', async () => {
  const clock = createFakeClock()
  const recovery = createRecovery(Infinity)
  const recording = recordPublished(recovery, event, {
    clock,
    stop: new AbortController().signal,
    log: () => {},
  })
  const failed = recording.catch((error) => error)
  await clock.advance(20_000)
  const error = await failed
  expect(error).toBeInstanceOf(NotRecorded)
  expect(error.message).toContain(
    'event e-1 of endpoint p-1 is published, but not recorded: no database',
  )
  expect(error.message).toContain("select outbox.record_broker_replay('e-1', 'p-1')")
  expect(recovery.recorded).toHaveLength(5)
})

Deno.test('recordPublished() does not pause after a signal', async () => {
  const clock = createFakeClock()
  const stop = AbortSignal.abort()
  const recovery = createRecovery(Infinity)
  await expect(recordPublished(recovery, event, { clock, stop, log: () => {} })).rejects.toThrow(
    'e-1',
  )
  expect(recovery.recorded).toHaveLength(5)
})

const letterOf = (n: number): Buffer =>
  Buffer.from(JSON.stringify({
    ...{ original_topic: 'orders', original_message: { id: n }, correlation_id: `c-${n}` },
    ...{ event_id: `e-${n}`, endpoint_id: 'p-1', event_type: 'order.paid' },
  }))

/**
 * A cluster with dead letters in its topic. Like kafkajs, it passes the same batch again after a rejection, from
 * the first offset that is not resolved.
 */
function createCluster(
  letters: Buffer[],
  send: () => Promise<void>,
  commits: unknown[] = [],
): unknown {
  const done = (): Promise<void> => Promise.resolve()
  let resolved = -1
  let crash: (event: unknown) => void = () => {}
  type Run = { eachBatch(batch: unknown): Promise<void> }
  return {
    admin: () => ({
      ...{ connect: done, disconnect: done },
      fetchTopicOffsets: () =>
        Promise.resolve([{ partition: 0, low: '0', high: String(letters.length) }]),
      fetchOffsets: () => Promise.resolve([]),
    }),
    producer: () => ({
      ...{ connect: done, disconnect: done },
      send,
    }),
    consumer: () => ({
      ...{ events: { CRASH: 'crash' }, connect: done, disconnect: done, subscribe: done },
      on: (_event: string, listener: typeof crash) => crash = listener,
      async run({ eachBatch }: Run): Promise<void> {
        const messages = letters
          .map((value, n) => ({ offset: String(n), value, key: null, headers: {} }))
        const resolveOffset = (offset: string): void => void (resolved = Number(offset))
        const deliver = (): Promise<void> =>
          eachBatch({
            batch: { partition: 0, messages: messages.slice(resolved + 1) },
            ...{ resolveOffset, heartbeat: done, isRunning: () => true, isStale: () => false },
          })
        await deliver().catch(deliver).catch((error) => crash({ payload: { error } }))
      },
      commitOffsets: (offsets: unknown[]) => Promise.resolve(void commits.push(...offsets)),
    }),
  }
}

for (const hasDatabase of [true, false]) {
  const also = hasDatabase ? '' : ', whatever the database says'
  Deno.test(`replayTopic() opens a claimed dead letter again if the cluster is unavailable${also}`, async () => {
    const recorded: unknown[] = []
    const recovery: Recovery = {
      claim: () => Promise.resolve({ kind: 'claimed' }),
      record: (event, isPublished) => {
        recorded.push([event?.id, isPublished])
        return hasDatabase ? Promise.resolve() : Promise.reject(new Error('no database'))
      },
      close: () => Promise.resolve(),
    }
    const replay = replayTopic({
      kafka: createCluster([letterOf(1)], () => Promise.reject(new Error('no broker'))) as never,
      ...{ dlq: 'orders.dlq', limit: 10, recovery },
      ...{ log: () => {}, stop: new AbortController().signal },
    })
    await expect(replay).rejects.toThrow('no broker')
    expect(recorded).toEqual([['e-1', false], ['e-1', false]])
  })
}

Deno.test('replayTopic() ends if a published letter is not recorded, commits its offset, and publishes nothing more', async () => {
  const clock = createFakeClock()
  const commits: unknown[] = []
  let published = 0
  const replay = replayTopic({
    kafka: createCluster(
      [1, 2, 3].map(letterOf),
      () => Promise.resolve(void published++),
      commits,
    ) as never,
    ...{ dlq: 'orders.dlq', limit: 10, recovery: createRecovery(Infinity), clock },
    ...{ log: () => {}, stop: new AbortController().signal },
  })
  const failed = replay.catch((error) => error)
  await clock.advance(20_000)
  expect(await failed).toBeInstanceOf(NotRecorded)
  expect(published).toBe(1)
  expect(commits).toEqual([{ topic: 'orders.dlq', partition: 0, offset: '1' }])
})

Deno.test('replayTopic() goes on if the record of a letter succeeds later', async () => {
  const clock = createFakeClock()
  const commits: unknown[] = []
  const replay = replayTopic({
    kafka: createCluster([1, 2].map(letterOf), () => Promise.resolve(), commits) as never,
    ...{ dlq: 'orders.dlq', limit: 10, recovery: createRecovery(4), clock },
    ...{ log: () => {}, stop: new AbortController().signal },
  })
  await clock.advance(20_000)
  expect(await replay).toEqual({ replayed: 2, skipped: 0, known: 0 })
  expect(commits).toHaveLength(2)
})

/** A RabbitMQ connection with dead letters in its queue; `acked` has those that left it. */
function createConnection(letters: Buffer[], acked: string[]): unknown {
  const queue = [...letters]
  const done = (): Promise<void> => Promise.resolve()
  return {
    createConfirmChannel: () =>
      Promise.resolve({
        on: () => {},
        publish: (...[, , , , confirm]: [string, string, Buffer, unknown, () => void]) => confirm(),
      }),
    createChannel: () =>
      Promise.resolve({
        ...{ on: () => {}, close: done },
        checkQueue: () => Promise.resolve({ messageCount: queue.length }),
        get: () => {
          const content = queue.shift()
          return Promise.resolve(content === undefined ? false : { content, properties: {} })
        },
        ack: ({ content }: { content: Buffer }) =>
          acked.push(JSON.parse(content.toString()).event_id),
      }),
  }
}

Deno.test('replayQueue() ends if a published letter is not recorded, removes it, and publishes nothing more', async () => {
  const clock = createFakeClock()
  const acked: string[] = []
  const replay = replayQueue({
    connection: createConnection([1, 2, 3].map(letterOf), acked) as never,
    ...{ dlq: 'orders.dlq', exchange: '', limit: 10, recovery: createRecovery(Infinity), clock },
    ...{ log: () => {}, stop: new AbortController().signal },
  })
  const failed = replay.catch((error) => error)
  await clock.advance(20_000)
  expect(await failed).toBeInstanceOf(NotRecorded)
  expect(acked).toEqual(['e-1'])
})
