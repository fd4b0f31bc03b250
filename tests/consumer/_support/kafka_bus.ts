import { Buffer } from 'node:buffer'
import { setTimeout as delay } from 'node:timers/promises'
import { connectKafka, openProducer } from '../../../consumer/kafka/connect.ts'
import { consumeTopic } from '../../../consumer/kafka/consume.ts'
import { replayTopic } from '../../../consumer/kafka/replay.ts'
import { withoutDatabase } from '../../../consumer/recovery.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { startKafka } from '../../_support/brokers/kafka.ts'
import { type ReadRecord, readTopic } from '../../_support/brokers/read.ts'
import { type Bus, type Found, headersOf } from './bus.ts'
import { patienceMs } from '../../_support/patience.ts'

/** A mock cluster of three brokers whose topics have four partitions. */
export async function startKafkaBus(log: (line: string) => void): Promise<Bus> {
  const cluster = await startKafka()
  const kafka = connectKafka(
    { brokers: cluster.bootstrap, tls: false, sasl: null },
    (level, message, fields) => log(JSON.stringify({ level, message, ...fields })),
  )
  const producer = openProducer(kafka)
  await producer.connect()

  async function read(name: string, count: number): Promise<Found[]> {
    let records: ReadRecord[] = []
    const isThere = await waitUntil(
      async () => (records = await readTopic(cluster, name)).length >= count,
      { timeoutMs: patienceMs, everyMs: 200 },
    )
    if (!isThere) throw new Error(`${records.length} of ${count} messages in ${name}`)
    return records.map(({ value, key, headers }) => ({
      text: value,
      key,
      id: headers['webhook-id'] ?? null,
      headers,
    }))
  }

  return {
    name: 'Kafka',
    env: { OUTHOOK_KAFKA_BROKERS: cluster.bootstrap.join(',') },
    flag: '--topic',
    create: (name) => Promise.resolve(cluster.createTopic(name, 4)),
    async send(topic, messages): Promise<void> {
      for (let at = 0; at < messages.length; at += 500) {
        await producer.send({
          topic,
          acks: -1,
          messages: messages.slice(at, at + 500).map((message) => ({
            key: message.key,
            value: message.text,
            headers: headersOf(message),
          })),
        })
      }
    },
    async sendBytes(topic, id, body): Promise<void> {
      const messages = [{ key: id, value: Buffer.from(body), headers: headersOf({ id }) }]
      await producer.send({ topic, acks: -1, messages })
    },
    read,
    consume: ({ from, concurrency, deps, stop }) =>
      consumeTopic({
        kafka,
        topic: from,
        dlq: `${from}.dlq`,
        group: `group-${from}`,
        concurrency,
        fromBeginning: true,
        // The least that Kafka takes: the mock keeps a member that has left for so long.
        sessionMs: 6_000,
        deps,
        stop,
      }),
    replay: (dlq, limit = Infinity) =>
      replayTopic({
        kafka,
        dlq,
        limit,
        recovery: withoutDatabase(() => {}),
        log: () => {},
        stop: new AbortController().signal,
      }),
    async restart(): Promise<void> {
      for (const broker of [1, 2, 3]) cluster.down(broker)
      await delay(1_000)
      for (const broker of [1, 2, 3]) cluster.up(broker)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await producer.disconnect()
      cluster[Symbol.dispose]()
    },
  }
}
