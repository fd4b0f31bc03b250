/** A channel that is given up, while messages on it wait for their confirmation. */

import { expect } from '@std/expect'
import { type ChannelModel, connect } from 'amqplib'
import { Buffer } from 'node:buffer'
import { type Clock, systemClock } from '../../../../../functions/_shared/base/clock.ts'
import {
  type Message,
  openPublisher,
} from '../../../../../functions/_shared/senders/rabbitmq/publisher.ts'
import {
  type AmqpAnswers,
  closeFully,
  frame,
  type HostileRabbitMq,
  longLong,
  method,
  short,
  shortText,
  startHostileRabbitMq,
} from '../../../../_support/brokers/hostile_rabbitmq.ts'

const ack = (channel: number, tag: bigint, multiple = 0): Buffer =>
  method(channel, 'ack', longLong(tag), Buffer.from([multiple]))
const nack = (channel: number, tag: bigint): Buffer =>
  method(channel, 'nack', longLong(tag), Buffer.from([0]))

const first: Message = {
  exchange: 'amq.topic',
  routingKey: 'order.paid',
  content: Buffer.from('{}'),
  options: { messageId: 'event-1' },
}
/** A further try of the same event, after the first one was too late: it has the same id. */
const retry: Message = first
const nacked = expect.objectContaining({ outcome: 'failed', error_class: 'broker', code: 'NACK' })

/** A connection to a broker that answers so, and the channels that are closed. */
async function connected(answers: AmqpAnswers): Promise<
  AsyncDisposable & { model: ChannelModel; closed: number[] }
> {
  const closed: number[] = []
  const broker: HostileRabbitMq = startHostileRabbitMq({
    '20.40': (channel) => {
      closed.push(channel)
      return [method(channel, 'channelCloseOk')]
    },
    ...answers,
  })
  const model = await connect({ hostname: '127.0.0.1', port: broker.port, heartbeat: 0 })
  // Without a listener it would end the process.
  model.on('error', () => {})
  return {
    model,
    closed,
    [Symbol.asyncDispose]: async () => {
      await closeFully(model, broker)
      broker[Symbol.dispose]()
    },
  }
}

/** A clock whose time is up when the test says so. */
function manualClock(): { clock: Clock; timers: Map<() => void, number> } {
  const timers = new Map<() => void, number>()
  const after = (ms: number, run: () => void): () => void => {
    timers.set(run, ms)
    return () => timers.delete(run)
  }
  return { clock: { ...systemClock, after }, timers }
}

Deno.test('a channel is not closed after a NACK of the retry while its first try waits', async () => {
  await using broker = await connected({
    '60.40': counted((tag, channel) =>
      [[], [nack(channel, 2n)], [ack(1, 1n), ack(channel, 1n)]][tag]
    ),
  })
  const { clock, timers } = manualClock()
  const publisher = await openPublisher(broker.model, clock)
  const late = publisher.publish(first)
  expect(await publisher.publish(retry)).toEqual(nacked)
  expect(publisher.isOpen).toBe(false)
  const other = await openPublisher(broker.model, clock)
  expect(await other.publish(first)).toEqual({ outcome: 'delivered' })
  expect(await late).toEqual({ outcome: 'delivered' })
  // The answer to this close is behind that to the other one.
  await (await broker.model.createChannel()).close()
  expect([broker.closed.length, broker.closed[0]]).toEqual([2, 1])
  expect(timers.size).toBe(0)
})

Deno.test('a channel that is given up is closed after a minute if a confirmation never comes', async () => {
  await using broker = await connected({
    '60.40': counted((tag, channel) => [[], [nack(channel, 2n)]][tag]),
  })
  const { clock, timers } = manualClock()
  const publisher = await openPublisher(broker.model, clock)
  const unconfirmed = publisher.publish(first)
  expect(timers.size).toBe(0)
  expect(await publisher.publish(retry)).toEqual(nacked)
  // As long as the longest timeout of an endpoint: the message is too late by then.
  const [[closeNow, ms] = []] = [...timers]
  expect(ms).toBe(60_000)
  expect(broker.closed).toEqual([])
  closeNow?.()
  // A failure of this class leaves the connection to the other endpoints.
  expect(await unconfirmed).toEqual({
    outcome: 'failed',
    error_class: 'broker',
    error: 'RabbitMQ did not confirm the message, and refused another',
    code: 'CHANNEL_CLOSED',
  })
  expect(broker.closed).toEqual([1])
  expect(timers.size).toBe(0)
})

Deno.test('the end of its connection ends the wait of a channel that is given up', async () => {
  await using broker = await connected({
    '60.40': counted((tag, channel) => [[], [nack(channel, 2n)]][tag]),
  })
  const { clock, timers } = manualClock()
  const publisher = await openPublisher(broker.model, clock)
  const unconfirmed = publisher.publish(first)
  await publisher.publish(retry)
  expect(timers.size).toBe(1)
  await broker.model.close()
  expect(await unconfirmed).toMatchObject({ outcome: 'failed', error_class: 'reset' })
  expect(timers.size).toBe(0)
})

Deno.test('of two tries of one event that no queue takes, neither counts as delivered', async () => {
  const returned = (channel: number): Buffer[] => [
    method(
      channel,
      'return',
      short(312),
      ...['NO_ROUTE', 'amq.topic', 'order.paid'].map(shortText),
    ),
    headerOf(channel, 'event-1'),
  ]
  await using broker = await connected({
    '60.40': counted((tag, channel) =>
      [returned(channel), [...returned(channel), ack(channel, 2n, 1)]][tag]
    ),
  })
  const publisher = await openPublisher(broker.model)
  const outcomes = await Promise.all([publisher.publish(first), publisher.publish(retry)])
  const noRoute = expect.objectContaining({ outcome: 'failed', code: 'NO_ROUTE' })
  expect(outcomes).toEqual([noRoute, noRoute])
})

/** The answers to the published messages of all channels, which are counted from 0. */
function counted(
  answer: (n: number, channel: number) => Buffer[] | undefined,
): (channel: number) => Buffer[] {
  let n = 0
  return (channel) => answer(n++, channel) ?? []
}

/** The header of a returned message of 0 bytes that has nothing but an id. */
function headerOf(channel: number, messageId: string): Buffer {
  const head = [short(60), short(0), longLong(0n), short(0x0080), shortText(messageId)]
  return frame(2, channel, Buffer.concat(head))
}
