/** A channel on which RabbitMQ has refused a message, as it does for ever on one that still asks a killed node. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createRabbitMqSender } from '../../../../../functions/_shared/senders/rabbitmq/sender.ts'
import { rabbitMqEndpoint, sendOne } from '../../../../_support/brokers/endpoints.ts'
import {
  type AmqpAnswers,
  longLong,
  method,
  startHostileRabbitMq,
} from '../../../../_support/brokers/hostile_rabbitmq.ts'

const nack = (channel: number, tag: bigint): Buffer =>
  method(channel, 'nack', longLong(tag), Buffer.from([0]))
const ack = (channel: number, tag: bigint): Buffer =>
  method(channel, 'ack', longLong(tag), Buffer.from([0]))

/** Answers of a broker that knows which channel it is, from 1 on, and which message on it. */
function counting(answer: (channel: number, opened: number, tag: number) => Buffer[]): AmqpAnswers {
  let opened = 0
  let tag = 0
  return {
    '85.10': (channel) => {
      opened++
      tag = 0
      return [method(channel, 'selectOk')]
    },
    '60.40': (channel) => answer(channel, opened, ++tag),
  }
}

const endpointAt = (port: number) =>
  rabbitMqEndpoint({ port, vhost: '/', user: 'user', password: 'password' })

Deno.test('after RabbitMQ has refused a message, the next one has another channel', async () => {
  using broker = startHostileRabbitMq(counting((channel, opened, tag) => [
    (opened === 1 ? nack : ack)(channel, BigInt(tag)),
  ]))
  const sender = createRabbitMqSender()
  const endpoint = endpointAt(broker.port)
  try {
    const outcomes = [await sendOne(sender, endpoint), await sendOne(sender, endpoint)]
    expect(outcomes).toEqual([
      expect.objectContaining({ outcome: 'failed', code: 'NACK' }),
      { outcome: 'delivered' },
    ])
  } finally {
    await sender.closeIdle?.()
  }
  expect(await broker.gone()).toBe(true)
})

Deno.test('the other messages of a channel on which one was refused are waited for', async () => {
  using broker = startHostileRabbitMq(counting((channel, opened, tag) => {
    if (opened > 1) return [ack(channel, 1n)]
    return tag === 2 ? [nack(channel, 1n), ack(channel, 2n)] : []
  }))
  const sender = createRabbitMqSender()
  const endpoint = endpointAt(broker.port)
  try {
    const outcomes = await Promise.all([sendOne(sender, endpoint), sendOne(sender, endpoint)])
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['delivered', 'failed'])
    expect(await sendOne(sender, endpoint)).toEqual({ outcome: 'delivered' })
  } finally {
    await sender.closeIdle?.()
  }
  expect(await broker.gone()).toBe(true)
})
