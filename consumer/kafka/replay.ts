import type { Buffer } from 'node:buffer'
import type { Admin, IHeaders, Kafka } from 'kafkajs'
import type { Log } from '../../functions/_shared/base/log.ts'
import { brokerCodeOf } from '../../functions/_shared/senders/kafka/failure.ts'
import { eventHeaders, type Original, readDeadLetter } from '../dead_letter.ts'
import type { Replayed } from '../replayed.ts'
import { openProducer } from './connect.ts'

export type KafkaReplayOptions = {
  kafka: Kafka
  dlq: string
  /** The most dead letters. */
  limit: number
  log: Log
  stop: AbortSignal
}

/** After a kill the next call waits for this time. */
const sessionMs = 6_000
/** How long a broker waits for more records before it responds; the end waits for it. */
const fetchMs = 500

type Ends = Map<number, bigint>

/**
 * Publishes the dead letters of a topic to their `original_topic` again, with their key and headers:
 * those that exist when it starts. It records replayed ones as the offsets of the group `<dlq>.replay`,
 * so the next call continues after them.
 */
export async function replayTopic(options: KafkaReplayOptions): Promise<Replayed> {
  const { kafka, dlq, limit, log, stop } = options
  const group = `${dlq}.replay`
  const replayed: Replayed = { replayed: 0, skipped: 0 }
  const admin = kafka.admin()
  await admin.connect()
  const open = await remaining(admin, group, dlq).finally(() => admin.disconnect())
  if (open.size === 0) return replayed

  const producer = openProducer(kafka)
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionMs,
    heartbeatInterval: 1_000,
    maxWaitTimeInMs: fetchMs,
  })
  const done = Promise.withResolvers<void>()
  consumer.on(consumer.events.CRASH, ({ payload }) => done.reject(payload.error))
  stop.addEventListener('abort', () => done.resolve())
  try {
    await producer.connect()
    await consumer.connect()
    await consumer.subscribe({ topic: dlq, fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }): Promise<void> => {
        const end = open.get(batch.partition)
        for (const { offset, value, key, headers } of batch.messages) {
          const isOver = end === undefined || BigInt(offset) >= end ||
            replayed.replayed + replayed.skipped >= limit
          if (isOver || stop.aborted || !isRunning() || isStale()) break
          const original = readDeadLetter(value ?? new Uint8Array())
          if (original === null) {
            log('warn', 'not a dead letter', { topic: dlq, event: `${batch.partition}/${offset}` })
            replayed.skipped++
          } else {
            const message = { value: original.body, ...placeOf(original, key, headers) }
            try {
              await producer.send({ topic: original.topic, acks: -1, messages: [message] })
              replayed.replayed++
            } catch (error) {
              const code = brokerCodeOf(error)
              // Without a code, the cluster is unavailable.
              if (code === null) throw error
              const event = `${batch.partition}/${offset}`
              log('warn', 'dead letter not replayed', { topic: original.topic, event, error: code })
              replayed.skipped++
            }
          }
          resolveOffset(offset)
          const next = String(BigInt(offset) + 1n)
          await consumer.commitOffsets([{ topic: dlq, partition: batch.partition, offset: next }])
          if (end !== undefined && BigInt(next) >= end) open.delete(batch.partition)
          await heartbeat()
        }
        if (open.size === 0 || replayed.replayed + replayed.skipped >= limit) done.resolve()
      },
    })
    await done.promise
  } finally {
    await consumer.disconnect()
    await producer.disconnect()
  }
  return replayed
}

/** The key and headers of the original message; those of the letter unless it says otherwise. */
function placeOf(
  { event }: Original,
  key: Buffer | null,
  headers: IHeaders = {},
): { key: Buffer | string | null; headers: IHeaders } {
  if (event === null) return { key, headers }
  return { key: event.key, headers: { ...headers, ...eventHeaders(event) } }
}

/** The partitions with records that are not replayed yet, and their current ends. */
async function remaining(admin: Admin, group: string, topic: string): Promise<Ends> {
  const bounds = await admin.fetchTopicOffsets(topic)
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  const ends: Ends = new Map()
  for (const { partition, low, high } of bounds) {
    const noted = committed?.partitions.find((one) => one.partition === partition)?.offset ?? '-1'
    const from = BigInt(noted) < 0n ? BigInt(low) : BigInt(noted)
    if (from < BigInt(high)) ends.set(partition, BigInt(high))
  }
  return ends
}
