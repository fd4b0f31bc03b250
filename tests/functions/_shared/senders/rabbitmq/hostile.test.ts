/** What a broker that speaks AMQP with bad intent can do to the process that delivers for all. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createRabbitMqSender } from '../../../../../functions/_shared/senders/rabbitmq/sender.ts'
import { rabbitMqEndpoint, sendOne } from '../../../../_support/brokers/endpoints.ts'
import {
  type AmqpAnswers,
  frame,
  long,
  longLong,
  method,
  short,
  shortText,
  startHostileRabbitMq,
} from '../../../../_support/brokers/hostile_rabbitmq.ts'

const user = 'ada-of-the-orders'
const password = 'correct-horse'

function ack(tag: bigint, multiple = 0): AmqpAnswers {
  return {
    '60.40': (channel) => [method(channel, 'ack', longLong(tag), Buffer.from([multiple]))],
  }
}

/** A returned message whose header announces so many bytes. */
function returned(size: bigint): AmqpAnswers {
  return {
    '60.40': (channel) => [
      method(channel, 'return', short(312), ...['NO_ROUTE', 'amq.topic', 'x'].map(shortText)),
      frame(2, channel, Buffer.concat([short(60), short(0), longLong(size), short(0)])),
    ],
  }
}

const nested = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from([65, 0, 1, 255, 0])))

const cases: [what: string, answers: AmqpAnswers][] = [
  ['confirms message four billion', ack(4_294_967_000n)],
  ['confirms up to message 2^53', ack(9_007_199_254_740_991n, 1)],
  ['confirms up to message 2^64', ack(18_446_744_073_709_551_615n, 1)],
  ['confirms message 0', ack(0n)],
  ['confirms message 2, which was not sent', ack(2n)],
  ['returns 2^60 bytes', returned(1n << 60n)],
  ['announces a frame of 64 MB', {
    header: () => [Buffer.concat([Buffer.from([1, 0, 0]), long(67_108_864), Buffer.alloc(9)])],
  }],
  ['announces a frame of 200 KB', {
    header: () => [Buffer.concat([Buffer.from([1, 0, 0]), long(204_800), Buffer.alloc(9)])],
  }],
  ['has properties of 20,000 levels', {
    header: () => [
      method(0, 'start', Buffer.from([0, 9]), long(nested.length + 2), shortText('a'), nested),
    ],
  }],
  ['sends a frame without its end', { header: () => [Buffer.alloc(8)] }],
  ['sends text', { header: () => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')] }],
]

for (const [what, answers] of cases) {
  Deno.test(`a broker that ${what} ends its own connection and nothing else`, async () => {
    using broker = startHostileRabbitMq(answers)
    const sender = createRabbitMqSender()
    const endpoint = rabbitMqEndpoint({ port: broker.port, vhost: '/', user, password } as never)
    const outcome = await sendOne(sender, endpoint)
    await sender.closeIdle?.()
    expect(outcome).toMatchObject({ outcome: 'failed' })
    // A wait of 15 s would be that for a response which never comes.
    expect(outcome).not.toMatchObject({ error_class: 'timeout' })
    expect(JSON.stringify(outcome)).not.toContain(user)
    expect(JSON.stringify(outcome)).not.toContain(password)
    expect(await broker.gone()).toBe(true)
  })
}

/** Also where the file is run alone. */
const withoutLeaks = { sanitizeOps: true, sanitizeResources: true }

Deno.test(
  'a broker that never confirms the end of a connection keeps no socket and no timer',
  withoutLeaks,
  async () => {
    using broker = startHostileRabbitMq({ ...ack(1n), '10.50': () => [] })
    const sender = createRabbitMqSender()
    const endpoint = rabbitMqEndpoint({ port: broker.port, vhost: '/', user, password } as never)
    expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
    await sender.closeIdle?.()
    expect(await broker.gone()).toBe(true)
  },
)

Deno.test('a broker that keeps its side of a closed connection open keeps no socket', async () => {
  using broker = startHostileRabbitMq(ack(1n))
  const sender = createRabbitMqSender()
  const endpoint = rabbitMqEndpoint({ port: broker.port, vhost: '/', user, password } as never)
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  await sender.closeIdle?.()
  expect(await broker.gone()).toBe(true)
})

Deno.test('a broker that breaks an unused connection, and keeps its own side open, keeps no socket', async () => {
  // Its second frame comes when nobody waits for anything.
  using broker = startHostileRabbitMq({
    '60.40': (channel) => [...ack(1n)['60.40']?.(channel) ?? [], Buffer.alloc(8)],
  })
  const sender = createRabbitMqSender()
  const endpoint = rabbitMqEndpoint({ port: broker.port, vhost: '/', user, password } as never)
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  expect(await broker.gone()).toBe(true)
  await sender.closeIdle?.()
})

Deno.test('a broker that confirms the message delivers it', async () => {
  using broker = startHostileRabbitMq(ack(1n))
  const sender = createRabbitMqSender()
  const endpoint = rabbitMqEndpoint({ port: broker.port, vhost: '/', user, password } as never)
  expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  await sender.closeIdle?.()
  expect(await broker.gone()).toBe(true)
})
