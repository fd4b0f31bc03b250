/** Brokers on the whole stack: one saga to three destinations, dead letters, a broker that is away, one that is slow. */

import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { createKafkaEndpoint, createRabbitMqEndpoint } from '../_support/brokers/create.ts'
import {
  kafkaError,
  produceRequest,
  startKafka,
  type TestKafka,
} from '../_support/brokers/kafka.ts'
import { startProxy } from '../_support/brokers/proxy.ts'
import { startRabbitMq, type TestRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { openQueue, readTopic } from '../_support/brokers/read.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let rabbit: TestRabbitMq
let kafka: TestKafka

Deno.test.beforeAll(async () => {
  ;[outhook, rabbit, kafka] = await Promise.all([
    startOuthook({ only: ['deliver'] }),
    startRabbitMq(),
    startKafka(),
  ])
  await outhook.sql.file(`${projectRoot}/supabase/local/start/order_saga.sql`)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await rabbit?.[Symbol.asyncDispose]()
  kafka?.[Symbol.dispose]()
})

/** Waits for a condition on one value that SQL gives. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  if (!await waitUntil(holds, { timeoutMs: patienceMs })) throw new Error('it never came to hold')
}

Deno.test('the events of one saga arrive as webhooks, at RabbitMQ and at Kafka', async () => {
  const types = ['stock.*', 'payment.*', 'order.*']
  await outhook.createEndpoint('/hooks/saga', { p_event_types: types, p_ordering: 'partition' })
  await using queue = await openQueue(rabbit, 'saga', { exchange: 'amq.topic', pattern: '#' })
  await createRabbitMqEndpoint(outhook, rabbit, { eventTypes: types, ordering: 'partition' })
  await createKafkaEndpoint(outhook, kafka, { eventTypes: types, broker: { topic: 'saga' } })
  const context = { order: 7, customer: 'ada', item: 'lamp', quantity: 2 }
  const [row] = await outhook.sql`
    select outbox.execute_saga('place_order', ${outhook.sql.json(context)}) as result`
  const { id, event_ids } = row?.result ?? {}
  const come = (): string[] =>
    outhook.receiver.received.filter(({ headers }) => headers['x-correlation-id'] === id)
      .map(({ body }) => new TextDecoder().decode(body))
  await until(() => Promise.resolve(come().length === 3 && queue.messages.length === 3))
  const webhooks = come()
  let records = await readTopic(kafka, 'saga')
  await until(async () => (records = await readTopic(kafka, 'saga')).length === 3)
  expect(webhooks.map((body) => JSON.parse(body).id)).toEqual(event_ids)
  // The same bytes for all of them, in the order of the steps.
  expect(queue.messages.map(({ content }) => content.toString())).toEqual(webhooks)
  expect(records.map(({ value }) => value)).toEqual(webhooks)
  expect(records.map(({ key }) => key)).toEqual([id, id, id])
  expect(queue.messages.map(({ fields }) => fields.routingKey))
    .toEqual(['stock.reserved', 'payment.taken', 'order.confirmed'])
})

Deno.test('what Kafka refuses for good comes to the dead-letter topic, and to the people', async () => {
  const endpoint = await createKafkaEndpoint(outhook, kafka, {
    eventTypes: ['bank.*'],
    broker: { topic: 'aegis.transactions' },
  })
  await outhook.sql`select outbox.send_test_event(${endpoint})`
  await until(async () => (await readTopic(kafka, 'aegis.transactions')).length === 1)
  kafka.failNext(produceRequest, [kafkaError.messageTooLarge])
  const [row] = await outhook.sql`
    select outbox.publish_raw('bank.moved', '{"amount": 100.10}', p_partition_key => 'acc-1',
      p_correlation_id => 'tx_xyz') as id`
  await until(async () => (await readTopic(kafka, 'aegis.transactions.dlq')).length === 1)
  const [record] = await readTopic(kafka, 'aegis.transactions.dlq')
  expect(record?.key).toBe('acc-1')
  expect(record?.value).toContain('"data":{"amount": 100.10}')
  expect(JSON.parse(record?.value ?? '')).toMatchObject({
    original_topic: 'aegis.transactions',
    original_message: { id: row?.id, eventType: 'bank.moved', correlationId: 'tx_xyz' },
    error: expect.stringContaining('MESSAGE_TOO_LARGE'),
    retry_count: 1,
    failed_at: expect.stringMatching(/^20.*Z$/),
    correlation_id: 'tx_xyz',
  })
  const news = await outhook.sql`
    select body::json ->> 'eventId' as id from outbox.event
    where type = 'outhook.delivery.dead_lettered'`
  expect(news.map(({ id }) => id)).toEqual([row?.id])
})

Deno.test('a message that no queue takes is tried as often as any, and goes to the dead-letter queue', async () => {
  await using dead = await openQueue(rabbit, 'orders.dead')
  const endpoint = await createRabbitMqEndpoint(outhook, rabbit, {
    eventTypes: ['lost.*'],
    broker: { exchange: 'amq.direct', dlq_routing_key: 'orders.dead' },
  })
  await outhook.sql`update outbox.endpoint set breaker_enabled = false,
    retry = '{"strategy": "fixed", "base_delay": 0.1}' where id = ${endpoint}`
  const id = await outhook.publish('lost.order')
  const [message] = await dead.read(1)
  expect(JSON.parse(message?.content.toString() ?? '')).toMatchObject({
    original_topic: 'lost.order',
    original_exchange: 'amq.direct',
    retry_count: 6,
    event_id: id,
  })
  expect(await outhook.outcomesOf(id)).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((n) => `${n} broker`),
    '6 broker',
  ])
})

Deno.test('a broker that is away holds its endpoint without a try spent, and webhooks go on', async () => {
  await using queue = await openQueue(rabbit, 'away', { exchange: 'amq.topic', pattern: 'away.#' })
  using proxy = startProxy(rabbit.port)
  const way = { ...rabbit, port: proxy.port }
  const endpoint = await createRabbitMqEndpoint(outhook, way, { eventTypes: ['away.*'] })
  await outhook.sql`update outbox.endpoint set breaker_open_ms = 1000 where id = ${endpoint}`
  await outhook.createEndpoint('/hooks/away', { p_event_types: ['away.*'] })
  proxy.down()
  const ids = await Promise.all(Array.from({ length: 20 }, () => outhook.publish('away.order')))
  await Promise.all(ids.map((id) => outhook.requestsOf(id, 1)))
  const state = async (): Promise<Record<string, unknown>> => {
    const [row] = await outhook.sql`
      select g.breaker, g.depth::integer, max(d.failed_attempts) as failed_attempts, sum(d.attempt)::integer as attempts
      from outbox.gate g join outbox.delivery d using (endpoint_id)
      where endpoint_id = ${endpoint} group by g.breaker, g.depth`
    return row ?? {}
  }
  // Each time with another delivery, and more than once.
  await until(async () => Number((await state()).attempts) >= 4)
  expect(await state()).toMatchObject({ depth: 20, failed_attempts: 0 })
  proxy.up()
  const arrived = (): Set<string> =>
    new Set(queue.messages.map(({ properties }) => properties.messageId))
  await until(() => Promise.resolve(arrived().size === 20))
  expect([...arrived()].sort()).toEqual([...ids].sort())
})

Deno.test('a broker that is slow to confirm delays no webhook', async () => {
  const slow = await createKafkaEndpoint(outhook, kafka, {
    eventTypes: ['slow.*'],
    ordering: 'none',
  })
  await outhook.createEndpoint('/hooks/quick', { p_event_types: ['quick.*'] })
  for (const broker of [1, 2, 3]) kafka.slow(broker, 8_000)
  // More than an edge run has slots.
  await Promise.all(Array.from({ length: 200 }, () => outhook.publish('slow.order')))
  await until(async () => {
    const [row] = await outhook.sql`
      select count(*)::integer as n from outbox.delivery
      where leased_until is not null and endpoint_id = ${slow}`
    return row?.n > 64
  })
  const ids = await Promise.all(Array.from({ length: 50 }, () => outhook.publish('quick.order')))
  await Promise.all(ids.map((id) => outhook.requestsOf(id, 1)))
  // Not one of the slow ones has been confirmed meanwhile.
  expect(await outhook.sql`select from outbox.attempt where endpoint_id = ${slow}`).toHaveLength(0)
  for (const broker of [1, 2, 3]) kafka.slow(broker, 0)
  await until(async () => {
    const [row] = await outhook.sql`
      select count(*)::integer as n from outbox.delivery where endpoint_id = ${slow}`
    return row?.n === 0
  })
})

Deno.test('no password of a broker is in any log', () => {
  expect(outhook.log.join('\n')).not.toContain(rabbit.password)
})
