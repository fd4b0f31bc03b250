/** From publish() over a broker to a consumer's SQL function, on the stack; and an endpoint's dead letter back. */

import { expect } from '@std/expect'
import { createKafkaEndpoint, createRabbitMqEndpoint } from '../_support/brokers/create.ts'
import {
  kafkaError,
  produceRequest,
  startKafka,
  type TestKafka,
} from '../_support/brokers/kafka.ts'
import { startRabbitMq, type TestRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { readTopic } from '../_support/brokers/read.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { connectRabbitMq } from '../../consumer/rabbitmq/connect.ts'
import { startConsumer } from './_support/consumer_process.ts'
import { patienceMs } from '../_support/patience.ts'

let outhook: TestOuthook
let kafka: TestKafka
let rabbit: TestRabbitMq

Deno.test.beforeAll(async () => {
  ;[outhook, kafka, rabbit] = await Promise.all([
    startOuthook({ only: ['deliver'] }),
    startKafka(),
    startRabbitMq(),
  ])
  await outhook.sql.unsafe(`
    create table public.billed (consumer text, event_id text, type text, n integer);
    create function public.bill_kafka(p jsonb) returns void language sql as $$
      insert into public.billed values ('kafka', p ->> 'id', p ->> 'eventType', (p #>> '{data,n}')::integer)
    $$;
    create function public.bill_rabbit(p jsonb) returns void language sql as $$
      insert into public.billed values ('rabbit', p ->> 'id', p ->> 'eventType', (p #>> '{data,n}')::integer)
    $$;`).simple()
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  kafka?.[Symbol.dispose]()
  await rabbit?.[Symbol.asyncDispose]()
})

async function billed(consumer: string): Promise<string[]> {
  const rows = await outhook.sql<{ event_id: string }[]>`
    select event_id from public.billed where consumer = ${consumer} order by n`
  return rows.map(({ event_id }) => event_id)
}

Deno.test('what is published arrives in the functions of two consumers, under its id', async () => {
  const { stack } = outhook
  await createRabbitMqEndpoint(outhook, rabbit, { eventTypes: ['bill.*'] })
  await createKafkaEndpoint(outhook, kafka, { eventTypes: ['bill.*'], broker: { topic: 'bills' } })
  const [user, password, vhost] = [rabbit.user, rabbit.password, rabbit.vhost]
    .map(encodeURIComponent)
  const env = {
    OUTHOOK_DB_URL: stack.dbUrl,
    OUTHOOK_KAFKA_BROKERS: kafka.bootstrap.join(','),
    OUTHOOK_RABBITMQ_URL: `amqp://${user}:${password}@127.0.0.1:${rabbit.port}/${vhost}`,
  }
  const connection = await connectRabbitMq({ url: env.OUTHOOK_RABBITMQ_URL, ca: null })
  const channel = await connection.createChannel()
  await channel.assertQueue('bills-work', { durable: true })
  await channel.bindQueue('bills-work', 'amq.topic', 'bill.#')
  await connection.close()

  // The first record of Kafka is refused for good, so that there is a dead letter to put back.
  kafka.createTopic('bills', 2)
  await outhook
    .sql`select outbox.send_test_event(e.id) from outbox.endpoint e where e.kind = 'kafka'`
  expect(
    await waitUntil(async () => (await readTopic(kafka, 'bills')).length > 0, {
      timeoutMs: patienceMs,
    }),
  ).toBe(true)
  kafka.failNext(produceRequest, [kafkaError.messageTooLarge])
  const [refused] = await outhook.sql`
    select outbox.publish('bill.made', '{"n": 0}', p_partition_key => 'k') as id`
  expect(
    await waitUntil(async () => (await readTopic(kafka, 'bills.dlq')).length > 0, {
      timeoutMs: patienceMs,
    }),
  ).toBe(true)
  const others = await outhook.sql`
    select outbox.publish('bill.made', jsonb_build_object('n', n), p_partition_key => 'k') as id
    from generate_series(1, 20) n`
  const ids = [refused?.id, ...others.map(({ id }) => id)]

  const replay = startConsumer('replay.ts', ['--topic', 'bills.dlq'], env)
  expect([await replay.ended, replay.lines.at(-1)]).toEqual([0, '1 replayed, 0 skipped'])
  const consumers = [
    ['--topic', 'bills', '--consumer', 'kafka', '--function', 'public.bill_kafka'],
    ['--queue', 'bills-work', '--consumer', 'rabbit', '--function', 'public.bill_rabbit'],
  ].map((args) => startConsumer('main.ts', args, env))
  // Kafka has the test event too.
  const isDone = await waitUntil(async () => {
    return (await billed('kafka')).length >= 22 && (await billed('rabbit')).length >= 21
  }, { timeoutMs: patienceMs })
  for (const consumer of consumers) consumer.kill('SIGTERM')
  expect([isDone, await Promise.all(consumers.map(({ ended }) => ended))]).toEqual([true, [0, 0]])
  expect(await billed('rabbit')).toEqual(ids)
  expect((await billed('kafka')).filter((id) => ids.includes(id))).toEqual(ids)
  const inbox = await outhook.sql<{ n: number }[]>`
    select count(*)::integer as n from outbox.consumer_inbox
    where consumer = 'kafka' and event_id in ${outhook.sql(ids)}`
  expect(inbox[0]?.n).toBe(21)
})
