/** A dead letter of an endpoint has one status, whether the database or the broker recovers it. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import type { Bus } from './_support/bus.ts'
import { startConsumer } from './_support/consumer_process.ts'
import { startKafkaBus } from './_support/kafka_bus.ts'
import { startRabbitMqBus } from './_support/rabbitmq_bus.ts'
import { type Shop, startShop } from './_support/shop.ts'

let shop: Shop
const buses: Bus[] = []

Deno.test.beforeAll(async () => {
  const [started, ...others] = await Promise.all([
    startShop(),
    startKafkaBus(() => {}),
    startRabbitMqBus(),
  ])
  shop = started
  buses.push(...others)
})
Deno.test.afterAll(async () => {
  for (const bus of buses) await bus[Symbol.asyncDispose]()
  await shop?.[Symbol.asyncDispose]()
})

type Letter = { event: string; endpoint: string; body: string; id: string }

/** An endpoint of a broker of this kind, as the letters for it name it. */
async function brokerEndpoint(kind: string, topic: string): Promise<void> {
  const { sql } = shop
  const broker = kind === 'kafka' ? { brokers: ['kafka.example.com:9093'], topic } : {
    ...{ url: 'amqps://rabbit.example.com', exchange: '' },
    ...{ routing_key: topic, dlq_routing_key: 'any' },
  }
  const credentials = kind === 'kafka' ? null : sql.json({ username: 'u', password: 'p' })
  const [made] = await sql<{ id: string }[]>`
    select outbox.create_broker_endpoint(${kind}, ${sql.json(broker)}, ${credentials},
      array[${`${topic}.paid`}]::text[], p_ordering => 'none') ->> 'id' as id`
  const once = { strategy: 'fixed', base_delay: 0, max_retries: 0 }
  await sql`update outbox.endpoint set retry = ${sql.json(once)} where id = ${made?.id ?? ''}`
}

/** Events with these idempotency keys that a broker refused, with the letters for their dead-letter topic. */
async function refuse(kind: string, topic: string, keys: (string | null)[]): Promise<Letter[]> {
  const { sql } = shop
  const type = `${topic}.paid`
  await brokerEndpoint(kind, topic)
  for (const key of keys) {
    await sql`select outbox.publish(${type}, '{"id": 1}', p_idempotency_key => ${key})`
  }
  const run = crypto.randomUUID()
  const call = async (seq: number, results: unknown): Promise<Record<string, unknown>[]> => {
    const [row] = await sql`
      select outbox.dispatch(${run}, ${seq}, ${sql.json(results as never)}, 100)::jsonb as answer`
    return row?.answer.deliveries
  }
  const deliveries = await call(1, [])
  await call(
    2,
    deliveries.map(({ event, endpoint, attempt }) => ({
      ...{ event, endpoint, attempt, outcome: 'failed', error_class: 'broker' },
      ...{ code: kind === 'kafka' ? 'MESSAGE_TOO_LARGE' : 'NACK', error: 'refused' },
    })),
  )
  return await sql<Letter[]>`
    select e.id, e.body, e.body::jsonb ->> 'event_id' as event, e.endpoint_id as endpoint
    from outbox.event e where e.type = 'outhook.dead_letter' and e.body::jsonb ->> 'event_type' = ${type}
    order by e.body::jsonb ->> 'event_id'`
}

async function statuses(letters: Letter[]): Promise<unknown[]> {
  return await Promise.all(letters.map(async ({ event, endpoint }) => {
    const [row] = await shop.sql`
      select s.status, x.replayed_at is not null as replayed, x.discarded_at is not null as discarded
      from outbox.dead_letter x
      join outbox.delivery_status s using (event_id, endpoint_id)
      where x.event_id = ${event} and x.endpoint_id = ${endpoint}`
    return row
  }))
}

for (const name of ['Kafka', 'RabbitMQ']) {
  Deno.test(`dlq:replay (${name}) keeps the idempotency key, and records what it publishes in the database`, async () => {
    const bus = buses.find((one) => one.name === name)
    if (bus === undefined) throw new Error(`${name} did not start`)
    const topic = `recovered-${name.toLowerCase()}`
    await bus.create(topic)
    await bus.create(`${topic}.dlq`)
    const letters = await refuse(name.toLowerCase(), topic, [
      ...[`pay-${topic}`, null, `discarded-${topic}`],
    ])
    expect(letters).toHaveLength(3)
    const [keyed, plain, discarded] = letters
    if (keyed === undefined || plain === undefined || discarded === undefined) return
    await shop.sql`
      select outbox.discard_dead_letter(${discarded.event}, ${discarded.endpoint}, 'known')`
    // The id of the letter is that of its own event.
    const send = async (all: Letter[]): Promise<void> => {
      for (const { id, body } of all) await bus.sendBytes(`${topic}.dlq`, id, Buffer.from(body))
    }
    const replay = async (): Promise<unknown> => {
      const process = startConsumer('replay.ts', [bus.flag, `${topic}.dlq`], {
        ...bus.env,
        OUTHOOK_DB_URL: shop.dbUrl,
      })
      return [await process.ended, process.lines.at(-1)]
    }
    await send(letters)
    expect(await replay()).toEqual([0, '2 replayed, 0 skipped, 1 recovered before'])
    const found = await bus.read(topic, 2)
    const keys = found.map(({ headers }) => [headers['webhook-id'], headers['idempotency-key']])
    expect(keys.toSorted()).toEqual([
      [keyed.event, `pay-${topic}`],
      [plain.event, plain.event],
    ].toSorted())
    const delivered = { status: 'delivered', replayed: true, discarded: false }
    const left = { status: 'dead_letter', replayed: false, discarded: true }
    expect(await statuses(letters)).toEqual([delivered, delivered, left])

    // The same letters once more: nothing is published twice.
    await send(letters)
    expect(await replay()).toEqual([0, '0 replayed, 0 skipped, 3 recovered before'])
    expect(await bus.read(topic, 2)).toHaveLength(2)
  })
}

for (const name of ['Kafka', 'RabbitMQ']) {
  Deno.test(`dlq:replay (${name}) leaves a dead letter whose endpoint publishes to another topic now`, async () => {
    const bus = buses.find((one) => one.name === name)
    if (bus === undefined) throw new Error(`${name} did not start`)
    const topic = `moved-${name.toLowerCase()}`
    for (const each of [topic, `${topic}-new`, `${topic}.dlq`]) await bus.create(each)
    const letters = await refuse(name.toLowerCase(), topic, [`pay-${topic}`])
    for (const { id, body } of letters) await bus.sendBytes(`${topic}.dlq`, id, Buffer.from(body))
    const [letter] = letters
    if (letter === undefined) throw new Error('there is no dead letter')
    const field = name === 'Kafka' ? 'topic' : 'routing_key'
    const moveTo = async (target: string): Promise<void> => {
      await shop.sql`
        update outbox.endpoint set config = config || jsonb_build_object(${field}::text, ${target}::text)
        where id = ${letter.endpoint}`
    }
    const replay = async (): Promise<unknown[]> => {
      const process = startConsumer('replay.ts', [bus.flag, `${topic}.dlq`], {
        ...bus.env,
        OUTHOOK_DB_URL: shop.dbUrl,
      })
      return [await process.ended, process.lines.at(-1), process.lines.join('\n')]
    }
    await moveTo(`${topic}-new`)
    expect(await replay()).toEqual([
      1,
      '0 replayed, 1 skipped',
      expect.stringContaining(
        `its endpoint publishes to ${name === 'Kafka' ? '' : '/'}${topic}-new now`,
      ),
    ])
    expect(await statuses(letters)).toMatchObject([{ status: 'dead_letter', replayed: false }])

    // After the endpoint is back, the letter that RabbitMQ has kept is published, and a new one in Kafka.
    await moveTo(topic)
    if (name === 'Kafka') {
      for (const { id, body } of letters) await bus.sendBytes(`${topic}.dlq`, id, Buffer.from(body))
    }
    expect((await replay()).slice(0, 2)).toEqual([0, '1 replayed, 0 skipped'])
    expect(await bus.read(topic, 1)).toHaveLength(1)
    expect(await statuses(letters)).toMatchObject([{ status: 'delivered' }])
  })
}

Deno.test('dlq:replay without the database says that the dead letters stay open there', async () => {
  const bus = buses.find((one) => one.name === 'RabbitMQ')
  if (bus === undefined) throw new Error('RabbitMQ did not start')
  await bus.create('untold')
  await bus.create('untold.dlq')
  const letters = await refuse('rabbitmq', 'untold', ['pay-1'])
  for (const { id, body } of letters) await bus.sendBytes('untold.dlq', id, Buffer.from(body))
  const process = startConsumer('replay.ts', ['--queue', 'untold.dlq'], bus.env)
  expect([await process.ended, process.lines.at(-1)]).toEqual([0, '1 replayed, 0 skipped'])
  expect(process.lines.join('\n')).toContain('dead letters stay open in the database')
  expect(await statuses(letters)).toMatchObject([{ status: 'dead_letter', replayed: false }])
})
