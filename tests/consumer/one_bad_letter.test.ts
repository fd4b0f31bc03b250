/** A dead letter that the broker refuses delays no other: neither when it is written nor when it is replayed. */

import { expect } from '@std/expect'
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { Buffer } from 'node:buffer'
import { systemClock } from '../../functions/_shared/base/clock.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { connectKafka, openProducer } from '../../consumer/kafka/connect.ts'
import { consumeTopic } from '../../consumer/kafka/consume.ts'
import { readRecord } from '../../consumer/kafka/message.ts'
import { replayTopic } from '../../consumer/kafka/replay.ts'
import { connectRabbitMq } from '../../consumer/rabbitmq/connect.ts'
import { consumeQueue } from '../../consumer/rabbitmq/consume.ts'
import { readDelivery } from '../../consumer/rabbitmq/message.ts'
import { writeDeadLetter } from '../../consumer/dead_letter.ts'
import { withoutDatabase } from '../../consumer/recovery.ts'
import {
  kafkaError,
  produceRequest,
  startKafka,
  type TestKafka,
} from '../_support/brokers/kafka.ts'
import { readTopic } from '../_support/brokers/read.ts'
import { patienceMs } from '../_support/patience.ts'
import type { Bus } from './_support/bus.ts'
import { startRabbitMqBus } from './_support/rabbitmq_bus.ts'
import { sampleMessage } from './samples.ts'

let cluster: TestKafka
let rabbit: Bus

Deno.test.beforeAll(async () => {
  ;[cluster, rabbit] = await Promise.all([startKafka(), startRabbitMqBus()])
})
Deno.test.afterAll(async () => {
  cluster?.[Symbol.dispose]()
  await rabbit?.[Symbol.asyncDispose]()
})

const kafka = (): ReturnType<typeof connectKafka> =>
  connectKafka({ brokers: cluster.bootstrap, tls: false, sasl: null }, () => {})

async function send(topic: string, values: (string | Buffer)[]): Promise<void> {
  const producer = openProducer(kafka())
  await producer.connect()
  const messages = values.map((value) => ({ value }))
  await producer.send({ topic, acks: -1, messages })
  await producer.disconnect()
}

function letterTo(source: string, id: number): Buffer {
  const message = sampleMessage({ source, body: Buffer.from(JSON.stringify({ id })) })
  return writeDeadLetter({ message, error: 'refused', retryCount: 6 }, new Date(0))
}

Deno.test('consume writes a short dead letter if the whole one is too large, and goes on', async () => {
  cluster.createTopic('large', 1)
  cluster.createTopic('large.dlq', 1)
  await send('large', ['{"n": 1}', '{"n": 2}'])
  cluster.failNext(produceRequest, [kafkaError.messageTooLarge])
  const stop = new AbortController()
  const handled: string[] = []
  const running = consumeTopic({
    kafka: kafka(),
    topic: 'large',
    dlq: 'large.dlq',
    group: 'large',
    concurrency: 1,
    fromBeginning: true,
    sessionMs: 6_000,
    stop: stop.signal,
    deps: {
      handle: ({ body }) => {
        handled.push(body.toString())
        return Promise.resolve(
          handled.length === 1
            ? { kind: 'failed', error: 'x'.repeat(2_000), isFinal: true }
            : { kind: 'done' },
        )
      },
      report: () => Promise.resolve({ kind: 'done' }),
      clock: systemClock,
      random: Math.random,
      log: () => {},
    },
  })
  expect(await waitUntil(() => handled.length === 2, { timeoutMs: patienceMs })).toBe(true)
  stop.abort()
  await running
  expect(handled).toEqual(['{"n": 1}', '{"n": 2}'])
  const [letter, more] = await readTopic(cluster, 'large.dlq')
  expect(more).toBe(undefined)
  expect(JSON.parse(letter?.value ?? '')).toMatchObject({
    original_topic: 'large',
    original_message: 'large/0/0',
    original_encoding: 'place',
    error: 'x'.repeat(1_000),
  })
  const replayed = await replayTopic({
    kafka: kafka(),
    dlq: 'large.dlq',
    limit: Infinity,
    recovery: withoutDatabase(() => {}),
    log: () => {},
    stop: new AbortController().signal,
  })
  expect(replayed).toEqual({ replayed: 0, skipped: 1, known: 0 })
})

Deno.test('dlq:replay skips a letter that Kafka refuses, and replays those after it', async () => {
  cluster.createTopic('target', 1)
  cluster.createTopic('target.dlq', 1)
  await send('target.dlq', [1, 2, 3].map((id) => letterTo('target', id)))
  const lines: unknown[] = []
  const told: boolean[] = []
  cluster.failNext(produceRequest, [kafkaError.messageTooLarge])
  const replayed = await replayTopic({
    kafka: kafka(),
    dlq: 'target.dlq',
    limit: Infinity,
    recovery: {
      ...withoutDatabase(() => {}),
      record: (_event, isPublished) => Promise.resolve(void told.push(isPublished)),
    },
    log: (_level, message, fields) => lines.push({ message, ...fields }),
    stop: new AbortController().signal,
  })
  expect(replayed).toEqual({ replayed: 2, skipped: 1, known: 0 })
  expect(told).toEqual([false, true, true])
  expect((await readTopic(cluster, 'target')).map(({ value }) => value))
    .toEqual(['{"id":2}', '{"id":3}'])
  expect(lines).toContainEqual({
    message: 'dead letter not replayed',
    topic: 'target',
    event: '0/0',
    error: 'MESSAGE_TOO_LARGE',
  })
})

Deno.test('dlq:replay skips a letter whose queue or exchange is gone, and replays those after it', async () => {
  await rabbit.create('here')
  await rabbit.create('here.dlq')
  const ofExchange = {
    ...JSON.parse(letterTo('here', 2).toString()),
    event_id: 'e-2',
    endpoint_id: 'p-1',
    event_type: 'order.paid',
    original_exchange: 'gone',
  }
  await rabbit.sendBytes('here.dlq', 'l-1', letterTo('gone', 1))
  await rabbit.sendBytes('here.dlq', 'l-2', Buffer.from(JSON.stringify(ofExchange)))
  await rabbit.sendBytes('here.dlq', 'l-3', letterTo('here', 3))
  expect(await rabbit.replay('here.dlq')).toEqual({ replayed: 1, skipped: 2, known: 0 })
  expect((await rabbit.read('here', 1)).map(({ text }) => text)).toEqual(['{"id":3}'])
  expect((await rabbit.read('here.dlq', 2)).map(({ id }) => id)).toEqual(['l-1', 'l-2'])
})

Deno.test('consume writes a dead letter after its confirm channel was closed, on the same connection', async () => {
  await rabbit.create('reopened')
  await rabbit.create('reopened.dlq')
  const { OUTHOOK_RABBITMQ_URL: url = '', OUTHOOK_RABBITMQ_CA: caFile = '' } = rabbit.env
  const ca = await Deno.readTextFile(caFile)
  const channels: ConfirmChannel[] = []
  let connects = 0
  async function connect(): Promise<ChannelModel> {
    const connection = await connectRabbitMq({ url, ca })
    connects++
    const create = connection.createConfirmChannel.bind(connection)
    connection.createConfirmChannel = async (options) => {
      const channel = await create(options)
      channels.push(channel)
      return channel
    }
    return connection
  }
  const stop = new AbortController()
  const running = consumeQueue({
    connect,
    queue: 'reopened',
    dlq: 'reopened.dlq',
    concurrency: 1,
    stop: stop.signal,
    deps: {
      handle: async () => {
        await channels.at(-1)?.close()
        return { kind: 'failed', error: 'refused', isFinal: true }
      },
      report: () => Promise.resolve({ kind: 'done' }),
      clock: systemClock,
      random: Math.random,
      log: () => {},
    },
  })
  await rabbit.send(
    'reopened',
    ['m-1', 'm-2'].map((id) => ({ id, key: '', text: '{}' })),
  )
  const letters = await rabbit.read('reopened.dlq', 2)
  stop.abort()
  await running
  expect(letters.map(({ id }) => id)).toEqual(['m-1', 'm-2'])
  expect({ connects, channels: channels.length }).toEqual({ connects: 1, channels: 3 })
})

Deno.test('a header with a NUL becomes a text that Postgres stores', () => {
  const headers = { 'webhook-id': Buffer.from('e\0-1') }
  const record = { key: null, value: null, timestamp: '', attributes: 0, offset: '7', headers }
  expect(readRecord(record, 'orders', 0).id).toBe('e�-1')
  const properties = { messageId: 'e\0-2', headers: { 'x-event-type': 'order\0paid' } }
  // SAFETY: readDelivery() reads only these parts.
  const delivery = { content: Buffer.from(''), properties } as unknown as Parameters<
    typeof readDelivery
  >[0]
  expect(readDelivery(delivery, 'orders')).toMatchObject({ id: 'e�-2', eventType: 'order�paid' })
})
