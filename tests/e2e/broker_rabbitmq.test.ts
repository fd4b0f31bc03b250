/** The sender of kind rabbitmq against a RabbitMQ: what arrives, what is refused and how, and what a kill costs. */

import { expect } from '@std/expect'
import type { Outcome } from '../../functions/_shared/contract/contract.ts'
import type { Sender } from '../../functions/_shared/senders/sender.ts'
import { createRabbitMqSender } from '../../functions/_shared/senders/rabbitmq/sender.ts'
import { rabbitMqEndpoint, sendOne } from '../_support/brokers/endpoints.ts'
import { startRabbitMq, type TestRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { openQueue } from '../_support/brokers/read.ts'
import { elsewhere } from './brokers/elsewhere.ts'

let rabbit: TestRabbitMq
let sender: Sender

Deno.test.beforeAll(async () => {
  rabbit = await startRabbitMq({ tls: true })
  sender = createRabbitMqSender()
})
Deno.test.afterAll(async () => {
  await sender?.closeIdle?.()
  await rabbit?.[Symbol.asyncDispose]()
})

Deno.test('send() publishes the body with ids, headers and the routing key of the template', async () => {
  await using queue = await openQueue(rabbit, 'wire', { exchange: 'amq.topic', pattern: 'wire.#' })
  const endpoint = rabbitMqEndpoint(rabbit, { routing_key: 'wire.{type}.{org}.{key}' })
  const event = { partition_key: 'k{type}', traceparent: '00-a-b-01', idempotency_key: 'key-1' }
  expect(await sendOne(sender, endpoint, event, { id: 'event-wire' })).toEqual({
    outcome: 'delivered',
  })
  const [message] = await queue.read(1)
  expect(message?.fields.routingKey).toBe('wire.order.paid.org-1.k{type}')
  expect(message?.content.toString()).toMatch(/^\{"id":".*","data":\{"amount": 1\.10\}\}$/)
  expect(message?.properties).toMatchObject({
    messageId: 'event-wire',
    correlationId: 'cart-7',
    type: 'order.paid',
    deliveryMode: 2,
    contentType: 'application/json',
    appId: 'outhook',
    headers: {
      'webhook-id': 'event-wire',
      'idempotency-key': 'key-1',
      'x-event-type': 'order.paid',
      'x-correlation-id': 'cart-7',
      'x-attempt': '1',
      traceparent: '00-a-b-01',
    },
  })
  expect(message?.properties.headers).not.toHaveProperty('webhook-signature')
})

Deno.test('send() says by class and code what RabbitMQ refuses', async () => {
  const { user, tlsPort, certificates, vhost, port } = rabbit
  const tlsUrl = `amqps://localhost:${tlsPort}/${encodeURIComponent(vhost)}`
  const ca = certificates?.ca
  const rows: [what: string, broker: Record<string, unknown>, expected: Record<string, string>][] =
    [
      ['no queue', { exchange: 'amq.direct' }, { error_class: 'broker', code: 'NO_ROUTE' }],
      ['no queue, not mandatory', { exchange: 'amq.direct', mandatory: false }, {
        outcome: 'delivered',
      }],
      ['no exchange', { exchange: 'nowhere' }, { error_class: 'broker', code: 'NOT_FOUND' }],
      ['no virtual host', { url: `amqp://127.0.0.1:${port}/no` }, {
        error_class: 'broker',
        code: 'NOT_ALLOWED',
      }],
      ['TLS of our own authority', { url: tlsUrl, ca, exchange: 'amq.fanout', mandatory: false }, {
        outcome: 'delivered',
      }],
      ['TLS of an authority that nobody knows', { url: tlsUrl }, { error_class: 'tls' }],
      ['an address of the inside', { url: 'amqp://10.0.0.1:5672' }, { error_class: 'blocked' }],
      ['a name that nobody knows', { url: 'amqp://nowhere.invalid:5672' }, { error_class: 'dns' }],
      ['a port where nobody listens', { url: 'amqp://127.0.0.1:1' }, { error_class: 'connect' }],
    ]
  for (const [what, broker, expected] of rows) {
    const outcome = await sendOne(sender, rabbitMqEndpoint(rabbit, broker), {}, {
      endpointId: what,
    })
    expect([what, outcome]).toEqual([what, expect.objectContaining(expected)])
  }
  const wrong = rabbitMqEndpoint(rabbit, {}, { username: user, password: 'pa55' })
  const refused = await sendOne(sender, wrong)
  expect(refused).toMatchObject({ error_class: 'broker', code: 'login_refused' })
  expect(JSON.stringify(refused)).not.toContain('pa55')
  // 127.0.0.1 may be reached, but its name leads elsewhere under this policy.
  expect(
    await sendOne(sender, rabbitMqEndpoint(rabbit, { url: `amqp://localhost:${port}` }), {}, {
      allowCidrs: [],
    }),
  )
    .toMatchObject({ error_class: 'blocked' })
})

Deno.test("one endpoint's missing exchange costs another none of its confirmations", async () => {
  await using _queue = await openQueue(rabbit, 'beside', {
    exchange: 'amq.topic',
    pattern: 'order.paid',
  })
  const good = rabbitMqEndpoint(rabbit)
  const bad = rabbitMqEndpoint(rabbit, { exchange: 'nowhere' })
  const outcomes = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
    const isBad = n % 10 === 0
    const outcome = await sendOne(sender, isBad ? bad : good, {}, {
      endpointId: isBad ? 'bad' : 'good',
    })
    return { isBad, outcome }
  }))
  for (const { isBad, outcome } of outcomes) {
    // Which of the bad ones the close was for RabbitMQ does not say: none of them is told so for good.
    if (isBad) expect(outcome).toMatchObject({ error_class: 'broker' })
    else expect(outcome).toEqual({ outcome: 'delivered' })
  }
})

function errorClass(outcome: Outcome): string {
  return outcome.outcome === 'failed' ? outcome.error_class : outcome.outcome
}

Deno.test('after a kill in mid-batch nothing confirmed is lost, and the next connection is made by itself', async () => {
  const endpoint = rabbitMqEndpoint(rabbit, { exchange: '', routing_key: 'killed' })
  const before = await openQueue(rabbit, 'killed')
  await before[Symbol.asyncDispose]()
  const confirmed: string[] = []
  const errors: unknown[] = []
  const ids = Array.from({ length: 3_000 }, () => crypto.randomUUID())
  const left = [...ids]
  let killed: Promise<void> | null = null
  await Promise.all(Array.from({ length: 100 }, async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (left.length <= 2_000) killed ??= rabbit.stop({ hard: true })
      const outcome = await sendOne(sender, endpoint, {}, { id })
      if (outcome.outcome === 'delivered') confirmed.push(id)
      else {
        errors.push(errorClass(outcome))
        break
      }
    }
  }))
  await killed
  // Each was on the connection that broke.
  expect(new Set(errors)).toEqual(new Set(['reset']))
  expect(left.length).toBeGreaterThan(0)
  const refused = await Promise.all(left.map((id) => sendOne(sender, endpoint, {}, { id })))
  // Nobody listens. Each of these, too, makes the database wait, without a try spent.
  expect(new Set(refused.map(errorClass))).toEqual(new Set(['connect']))
  expect(confirmed.length + errors.length + left.length).toBe(ids.length)
  await rabbit.start()
  await using queue = await openQueue(rabbit, 'killed')
  // One attempt a second at most, so the first may still be answered from memory.
  const id = crypto.randomUUID()
  let last = await sendOne(sender, endpoint, {}, { id })
  while (last.outcome !== 'delivered') {
    expect(errorClass(last)).toBe('connect')
    await new Promise((resolve) => setTimeout(resolve, 100))
    last = await sendOne(sender, endpoint, {}, { id })
  }
  await queue.read(confirmed.length + 1)
  const arrived = queue.messages.map(({ properties }) => properties.messageId)
  expect(confirmed.filter((id) => !arrived.includes(id))).toEqual([])
  expect(new Set(arrived).size).toBe(arrived.length)
})

for (const [runtime, send] of elsewhere) {
  Deno.test(`under ${runtime} it sends as well, TLS included`, async () => {
    await using queue = await openQueue(rabbit, `elsewhere-${runtime}`, {
      exchange: 'amq.topic',
      pattern: 'order.paid',
    })
    const { tlsPort, vhost, certificates } = rabbit
    const url = `amqps://localhost:${tlsPort}/${encodeURIComponent(vhost)}`
    expect(
      await send([
        rabbitMqEndpoint(rabbit),
        rabbitMqEndpoint(rabbit, { url, ca: certificates?.ca }),
        rabbitMqEndpoint(rabbit, { url }),
        rabbitMqEndpoint(rabbit, { exchange: 'nowhere' }),
      ]),
    ).toMatchObject([
      { outcome: 'delivered' },
      { outcome: 'delivered' },
      { error_class: 'tls' },
      { code: 'NOT_FOUND' },
    ])
    await queue.read(2)
  })
}
