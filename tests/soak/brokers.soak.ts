/** Brokers killed, stopped and cut off under load: every event arrives, each key in its order, and what comes twice is accounted for. */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { createKafkaEndpoint, createRabbitMqEndpoint } from '../_support/brokers/create.ts'
import { startKafka } from '../_support/brokers/kafka.ts'
import { startProxy } from '../_support/brokers/proxy.ts'
import { startRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { openQueue, readTopic } from '../_support/brokers/read.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const events = isShort ? 2_000 : 10_000
const keys = 50

/** One arrival: which event, of which key, with which number. */
interface Arrival {
  id: string
  key: string
  n: number
}

/** What happens to a broker when so much of the load has been delivered. */
interface Fault {
  after: number
  what: string
  act(): Promise<void>
}

async function delivered({ sql }: TestOuthook): Promise<number> {
  const [row] = await sql`
    select count(*)::integer as n from outbox.attempt where outcome = 'delivered'`
  return row?.n
}

async function publish({ sql }: TestOuthook): Promise<void> {
  const size = 100
  for (let at = 0; at < events; at += size) {
    await sql`select outbox.publish_many((
      select jsonb_agg(jsonb_build_object('type', 'soak.broker', 'payload', jsonb_build_object('n', n),
        'partition_key', 'key-' || n % ${keys}::integer) order by n)
      from generate_series(${at}::integer, ${at + size - 1}::integer) n))`
  }
}

/** Publishes and delivers it all, with each fault in its time. */
async function load(outhook: TestOuthook, faults: Fault[]): Promise<void> {
  const worker = startWorker(outhook.stack.dbUrl)
  const publishing = publish(outhook)
  for (const { after, what, act } of faults) {
    const due = async (): Promise<boolean> => await delivered(outhook) >= events * after
    expect([what, await waitUntil(due, { timeoutMs: 180_000, everyMs: 50 })]).toEqual([what, true])
    await act()
  }
  await publishing
  const isDone = async (): Promise<boolean> => await delivered(outhook) >= events
  expect(await waitUntil(isDone, { timeoutMs: 180_000, everyMs: 200 })).toBe(true)
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
}

/** Holds what arrived against what was published; `most` is how often one failed attempt may have arrived. */
async function check(
  { sql }: TestOuthook,
  name: string,
  arrivals: Arrival[],
  most: number,
): Promise<void> {
  const [row] = await sql`
    select count(*)::integer as published, (select count(*)::integer from outbox.dead_letter) as dead,
      (select max(d) from (select count(*)::integer as d from outbox.attempt
        where outcome = 'delivered' group by event_id) x) as most_delivered
    from outbox.event where type = 'soak.broker'`
  expect(row).toEqual({ published: events, dead: 0, most_delivered: 1 })
  const failures = await sql<{ event_id: string; n: number }[]>`
    select event_id, count(*)::integer as n from outbox.attempt where outcome = 'failed' group by event_id`
  const failed = new Map(failures.map(({ event_id, n }) => [event_id, n]))
  const times = new Map<string, number>()
  for (const { id } of arrivals) times.set(id, (times.get(id) ?? 0) + 1)
  expect(times.size).toBe(events)
  const unexplained = [...times].filter(([id, n]) =>
    n - 1 > (failed.get(id) ?? 0) * most + most - 1
  )
  expect(unexplained).toEqual([])
  for (let key = 0; key < keys; key++) {
    const numbers = arrivals.filter((one) => one.key === `key-${key}`).map(({ n }) => n)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  }
  print(
    `  ${name}: ${events} events, ${arrivals.length} arrivals, ${
      arrivals.length - times.size
    } of them ` +
      `duplicates; ${failures.reduce((sum, { n }) => sum + n, 0)} attempts failed`,
  )
}

Deno.test(`${events} events pass a RabbitMQ that is killed, stopped and cut off`, async () => {
  const outhook = await startOuthook({ functions: [] })
  await using rabbit = await startRabbitMq()
  using proxy = startProxy(rabbit.port)
  try {
    const bound = { exchange: 'amq.topic', pattern: 'soak.#' }
    await (await openQueue(rabbit, 'soak', bound))[Symbol.asyncDispose]()
    await createRabbitMqEndpoint(outhook, { ...rabbit, port: proxy.port }, {
      ordering: 'partition',
    })
    await outhook.sql`update outbox.endpoint set breaker_open_ms = 1000 where kind = 'rabbitmq'`
    await load(outhook, [
      { after: 0.2, what: 'kill', act: () => rabbit.stop({ hard: true }).then(rabbit.start) },
      { after: 0.4, what: 'cut', act: () => Promise.resolve(proxy.drop()) },
      { after: 0.6, what: 'restart', act: () => rabbit.stop().then(rabbit.start) },
      { after: 0.8, what: 'cut', act: () => Promise.resolve(proxy.drop()) },
    ])
    await using queue = await openQueue(rabbit, 'soak')
    await queue.read(events, 60_000)
    const arrivals = queue.messages.map(({ content, properties }): Arrival => {
      const { data: { n } } = JSON.parse(content.toString())
      return { id: properties.messageId, key: `key-${n % keys}`, n }
    })
    await check(outhook, 'RabbitMQ', arrivals, 1)
  } finally {
    await outhook.stop()
  }
})

Deno.test(`${events} events pass a Kafka cluster whose brokers go, one by one and all at once`, async () => {
  const outhook = await startOuthook({ functions: [] })
  using kafka = await startKafka()
  try {
    kafka.createTopic('soak', 4)
    await createKafkaEndpoint(outhook, kafka, { broker: { topic: 'soak' } })
    await outhook.sql`update outbox.endpoint set breaker_open_ms = 1000 where kind = 'kafka'`
    const away = async (...brokers: number[]): Promise<void> => {
      brokers.forEach(kafka.down)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      brokers.forEach(kafka.up)
    }
    await load(outhook, [
      { after: 0.2, what: 'one', act: () => away(1) },
      { after: 0.4, what: 'two', act: () => away(2, 3) },
      { after: 0.6, what: 'all', act: () => away(1, 2, 3) },
      { after: 0.8, what: 'leader', act: () => Promise.resolve(kafka.setLeader('soak', 0, 2)) },
    ])
    const records = await readTopic(kafka, 'soak')
    const arrivals = records.map(({ value, key, headers }): Arrival => ({
      id: headers['webhook-id'] ?? '',
      key: key ?? '',
      n: JSON.parse(value).data.n,
    }))
    // kafkajs repeats a request by itself, twice at most.
    await check(outhook, 'Kafka', arrivals, 3)
  } finally {
    await outhook.stop()
  }
})
