/** The consumer on a real RabbitMQ and on librdkafka's cluster: to the end of each message, once. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { systemClock } from '../../functions/_shared/base/clock.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { openInbox } from '../../consumer/inbox.ts'
import { createMetrics } from '../../consumer/metrics.ts'
import type { Bus } from './_support/bus.ts'
import { type ConsumerProcess, startConsumer } from './_support/consumer_process.ts'
import { startKafkaBus } from './_support/kafka_bus.ts'
import { startRabbitMqBus } from './_support/rabbitmq_bus.ts'
import { orderMessages, type Shop, startShop } from './_support/shop.ts'
import { patienceMs } from '../_support/patience.ts'

let shop: Shop
const buses: Partial<Record<Bus['name'], Bus>> = {}
const names = ['Kafka', 'RabbitMQ'] as const
const logged: string[] = []

Deno.test.beforeAll(async () => {
  const [started, kafka, rabbitMq] = await Promise.all([
    startShop(),
    startKafkaBus((line) => logged.push(line)),
    startRabbitMqBus(),
  ])
  shop = started
  buses.Kafka = kafka
  buses.RabbitMQ = rabbitMq
})
Deno.test.afterAll(async () => {
  for (const bus of Object.values(buses)) await bus[Symbol.asyncDispose]()
  await shop?.[Symbol.asyncDispose]()
})

function busOf(name: Bus['name']): Bus {
  const bus = buses[name]
  if (bus === undefined) throw new Error(`${name} did not start`)
  return bus
}

/** Consumes in this process, a hundred times as fast as the schedule says, until `until` holds. */
async function consumeUntil(
  bus: Bus,
  from: string,
  until: () => Promise<boolean>,
  concurrency = 4,
  metrics = createMetrics('billing', from),
): Promise<void> {
  const stop = new AbortController()
  const inbox = openInbox({ url: shop.dbUrl, consumer: 'billing', timeoutMs: 5_000, concurrency })
  const running = bus.consume({
    from,
    concurrency,
    stop: stop.signal,
    deps: {
      handle: (message) => inbox.consume(message, 'shop.bill_order'),
      report: (dead) => inbox.report(dead, `${from}.dlq`),
      clock: { ...systemClock, after: (ms, run) => systemClock.after(ms / 100, run) },
      random: Math.random,
      metrics,
      log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
    },
  })
  const isDone = await waitUntil(until, { timeoutMs: patienceMs, everyMs: 50 })
  stop.abort()
  await running
  await inbox.close()
  if (!isDone) throw new Error(`not done; the log ends with\n${logged.slice(-20).join('\n')}`)
}

const endpointLetter = JSON.stringify({
  original_topic: 'orders',
  original_message: { id: 'g-780', eventType: 'order.paid', data: { id: 780 } },
  error: 'The broker refused the record',
  retry_count: 6,
  failed_at: '2026-01-16T10:00:00.000Z',
  correlation_id: 'c-g-780',
  original_exchange: null,
  original_key: 'k3',
  event_id: 'g-780',
  event_type: 'order.paid',
  endpoint_id: 'p-1',
})

async function count(): Promise<number> {
  return (await shop.orders()).length
}

function startProcess(bus: Bus, from: string, ...more: string[]): ConsumerProcess {
  const handler = more.length > 0 ? more : ['--function', 'shop.bill_order']
  return startConsumer('main.ts', [bus.flag, from, '--consumer', 'billing', ...handler], {
    ...bus.env,
    OUTHOOK_DB_URL: shop.dbUrl,
  })
}

for (const name of names) {
  Deno.test(`consume (${name}) gives each message to the handler once, in order, goes on behind a dead one, and takes it after its replay`, async () => {
    const bus = busOf(name)
    await shop.clear()
    await bus.create('orders')
    await shop.refuse([10])
    const messages = orderMessages(60, 'e')
    await bus.send('orders', messages)
    await bus.sendBytes('orders', 'e-bad', Buffer.from([0xff, 0x00]))
    // A second time, as at least once has it; then one more of each key, to see the end.
    await bus.send('orders', messages.slice(0, 20))
    await bus.send('orders', orderMessages(7, 'e', 70))
    const dead = async (): Promise<number> => {
      const [row] = await shop.sql<{ dead: number }[]>`
        select count(*)::integer as dead from outbox.event
        where type = 'outhook.consumer.dead_lettered'`
      return row?.dead ?? 0
    }
    const metrics = createMetrics('billing', 'orders')
    const isDone = async (): Promise<boolean> => await count() === 66 && await dead() === 3
    await consumeUntil(bus, 'orders', isDone, 1, metrics)
    const series = metrics.text('prometheus')
    const counted = 'outhook_consumer_messages_total{consumer="billing",topic="orders",result='
    expect(series).toContain(`${counted}"done"} 66\n`)
    expect(series).toContain(`${counted}"known"} 19\n`)
    expect(series).toContain(`${counted}"dead"} 3\n`)
    expect(series).toMatch(/^outhook_consumer_redelivered_total\{.*\} 19$/m)
    const lags = [...series.matchAll(/^outhook_consumer_lag\{.*\} (\d+)$/gm)].map(([, n]) => n)
    expect(lags.length).toBeGreaterThan(0)
    if (name === 'Kafka') expect(lags.every((lag) => lag === '0')).toBe(true)

    const orders = await shop.orders()
    expect(orders.every(({ times }) => times === 1)).toBe(true)
    // Kafka keeps the order within a key, one at a time keeps it in a queue.
    for (let key = 0; key < 7; key++) {
      const ofKey = orders.map(({ id }) => id).filter((id) => id % 7 === key)
      expect([key, ofKey]).toEqual([key, ofKey.toSorted((a, b) => a - b)])
    }

    // A dead letter leaves no note in the inbox, so that the repeat of order 10 became one too.
    const letters = await bus.read('orders.dlq', 3)
    const refused = letters.filter(({ id }) => id === 'e-10')
    expect(refused).toHaveLength(2)
    expect(JSON.parse(refused[0]?.text ?? '')).toEqual({
      original_topic: 'orders',
      original_message: JSON.parse(messages[10]?.text ?? ''),
      error: 'no such customer',
      retry_count: 6,
      failed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      correlation_id: 'c-e-10',
    })
    expect(refused[0]?.text).toContain('"total": 1.10')
    if (name === 'Kafka') expect(refused[0]?.key).toBe('k3')
    expect(JSON.parse(letters.find(({ id }) => id === 'e-bad')?.text ?? '{}'))
      .toMatchObject({ original_message: '/wA=', original_encoding: 'base64', retry_count: 1 })
    const [news] = await shop.sql`
      select org_id, body::jsonb as body from outbox.event
      where type = 'outhook.consumer.dead_lettered' and body::jsonb ->> 'messageId' = 'e-10'`
    expect(news).toMatchObject({
      org_id: 'outhook',
      body: { consumer: 'billing', topic: 'orders', dlqTopic: 'orders.dlq', retryCount: 6 },
    })

    // Once the cause is mended they are put back: one by a call that is limited, the rest by the
    // command, and then nothing. What was done before does not come again, inbox or not.
    await shop.refuse([])
    const before = await shop.orders()
    await shop.sql`truncate outbox.consumer_inbox`
    if (name === 'RabbitMQ') {
      expect(await bus.replay('orders.dlq', 1)).toEqual({ replayed: 1, skipped: 0, known: 0 })
    }
    // As an endpoint writes one, whose own headers are not the event's; and what is none at all.
    await bus.sendBytes('orders.dlq', 'letter', Buffer.from(endpointLetter))
    await bus.sendBytes('orders.dlq', 'no-letter', Buffer.from('{}'))
    const replay = startConsumer('replay.ts', [bus.flag, 'orders.dlq'], bus.env)
    expect([await replay.ended, replay.lines.at(-1)])
      .toEqual([1, `${name === 'RabbitMQ' ? 3 : 4} replayed, 1 skipped`])
    await bus.send('orders', orderMessages(7, 'f', 770))
    await consumeUntil(bus, 'orders', async () => await count() === 75 && await dead() === 4)
    const after = await shop.orders()
    expect(after.filter(({ id }) => id < 700 && id !== 10)).toEqual(before)
    expect(after.find(({ id }) => id === 10)).toEqual({ id: 10, times: 1 })
    expect(await shop.sql`select from outbox.consumer_inbox where event_id = 'g-780'`).toHaveLength(
      1,
    )
    if (name === 'Kafka') {
      const found = await bus.read('orders', 60 + 1 + 20 + 7 + 3 + 1 + 7)
      expect(found.find(({ id }) => id === 'g-780')?.key).toBe('k3')
    }
  })
}

Deno.test('consume killed in mid-batch and started again loses nothing and does nothing twice', async () => {
  const bus = busOf('RabbitMQ')
  await shop.clear()
  await bus.create('storm')
  const total = 300
  await bus.send('storm', orderMessages(total, 's'))
  const bar = await shop.barAt(total / 3)
  const first = startProcess(bus, 'storm')
  expect(await waitUntil(bar.isReached, { timeoutMs: patienceMs })).toBe(true)
  first.kill('SIGKILL')
  expect(await first.ended).toBe('SIGKILL')
  expect(await count()).toBeLessThan(total)
  await bar.lift()
  const second = startProcess(bus, 'storm')
  expect(await waitUntil(async () => await count() === total, { timeoutMs: patienceMs })).toBe(true)
  second.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  expect((await shop.orders()).filter(({ times }) => times !== 1)).toEqual([])
})

Deno.test('consume hands messages to a URL, and waits while the database is away', async () => {
  const bus = busOf('RabbitMQ')
  await shop.clear()
  await bus.create('hooks')
  const seen: string[] = []
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, (request) => {
    const id = request.headers.get('webhook-id') ?? ''
    seen.push(id)
    return new Response(null, { status: id === 'h-1' ? 422 : 204 })
  })
  const consumer = startProcess(bus, 'hooks', '--url', `http://127.0.0.1:${server.addr.port}/`)
  const [first, ...others] = orderMessages(3, 'h')
  if (first !== undefined) await bus.send('hooks', [first, first, ...others])
  expect(await waitUntil(() => seen.length >= 3, { timeoutMs: patienceMs })).toBe(true)
  const [letter] = await bus.read('hooks.dlq', 1)
  expect(JSON.parse(letter?.text ?? '')).toMatchObject({
    error: 'The handler responded with 422',
    retry_count: 1,
  })
  await shop.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'outhook consumer'`
  await bus.send('hooks', orderMessages(5, 'i'))
  expect(await waitUntil(() => seen.length >= 8, { timeoutMs: patienceMs })).toBe(true)
  expect(seen.toSorted()).toEqual(['h-0', 'h-1', 'h-2', 'i-0', 'i-1', 'i-2', 'i-3', 'i-4'])
  consumer.kill('SIGTERM')
  expect(await consumer.ended).toBe(0)
  await server.shutdown()
})

Deno.test('consume says what is wrong before it begins', async () => {
  const bus = busOf('Kafka')
  const rows: [ConsumerProcess, RegExp][] = [
    [startProcess(bus, 'orders', '--function', 'shop.nope'), /shop\.nope\(jsonb\) does not exist/],
    [startConsumer('main.ts', ['--topic', 'a'], bus.env), /either --function/],
    [
      startConsumer('main.ts', ['--queue', 'a', '--consumer', 'b', '--url', 'http://a/'], {
        OUTHOOK_DB_URL: shop.dbUrl,
      }),
      /OUTHOOK_RABBITMQ_URL is not set/,
    ],
  ]
  for (const [consumer, words] of rows) {
    expect(await consumer.ended).toBe(1)
    expect(consumer.lines.join('\n')).toMatch(words)
  }
})
