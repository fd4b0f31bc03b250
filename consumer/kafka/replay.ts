import type { Admin, Kafka } from 'kafkajs'
import { type Clock, systemClock } from '../../functions/_shared/base/clock.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { deferred } from '../deferred.ts'
import { NotRecorded } from '../record.ts'
import type { Recovery } from '../recovery.ts'
import { handled, type Replayed } from '../replayed.ts'
import { openProducer } from './connect.ts'
import { replayLetter } from './replay_letter.ts'

export type KafkaReplayOptions = {
  kafka: Kafka
  dlq: string
  /** The most dead letters. */
  limit: number
  recovery: Recovery
  log: Log
  stop: AbortSignal
  clock?: Clock
}

/** After a kill the next call waits for this time. */
const sessionMs = 6_000
const heartbeatMs = 1_000
/** How long a broker waits for more records before it responds; the end waits for it. */
const fetchMs = 500

type Ends = Map<number, bigint>

/**
 * Publishes the dead letters of a topic to their `original_topic` again, with their key and headers:
 * those that exist when it starts. It records replayed ones as the offsets of the group `<dlq>.replay`,
 * so the next call continues after them. Rejects with NotRecorded if the database does not record a
 * published one. Then it commits the offset of this one, and publishes nothing more.
 */
export async function replayTopic(options: KafkaReplayOptions): Promise<Replayed> {
  const { kafka, dlq, limit, recovery, log, stop, clock = systemClock } = options
  const group = `${dlq}.replay`
  const replayed: Replayed = { replayed: 0, skipped: 0, known: 0 }
  const admin = kafka.admin()
  await admin.connect()
  const open = await remaining(admin, group, dlq).finally(() => admin.disconnect())
  if (open.size === 0) return replayed

  const producer = openProducer(kafka)
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionMs,
    heartbeatInterval: heartbeatMs,
    maxWaitTimeInMs: fetchMs,
  })
  const done = deferred()
  // Not thrown in eachBatch: kafkajs would call that again, and publish further letters.
  const ended: { failure: NotRecorded | null } = { failure: null }
  consumer.on(consumer.events.CRASH, ({ payload }) => done.reject(payload.error))
  stop.addEventListener('abort', () => done.resolve())
  const deps = { producer, recovery, clock, log, stop }
  const commit = (partition: number, offset: string): Promise<void> =>
    consumer.commitOffsets([{ topic: dlq, partition, offset }])
  try {
    await producer.connect()
    await consumer.connect()
    await consumer.subscribe({ topic: dlq, fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }): Promise<void> => {
        const end = open.get(batch.partition)
        // The membership must not end while the database is slow.
        const beat = setInterval(() => heartbeat().catch(() => {}), heartbeatMs)
        try {
          for (const record of batch.messages) {
            const { offset } = record
            const isOver = end === undefined || BigInt(offset) >= end ||
              handled(replayed) >= limit
            if (isOver || ended.failure !== null || stop.aborted || !isRunning() || isStale()) break
            const place = `${batch.partition}/${offset}`
            try {
              replayed[await replayLetter(record, { dlq, place }, deps)]++
            } catch (error) {
              if (!(error instanceof NotRecorded)) throw error
              ended.failure = error
            }
            resolveOffset(offset)
            const next = String(BigInt(offset) + 1n)
            await commit(batch.partition, next)
            if (ended.failure !== null) return
            if (end !== undefined && BigInt(next) >= end) open.delete(batch.partition)
          }
        } finally {
          clearInterval(beat)
          if (ended.failure !== null) done.reject(ended.failure)
        }
        if (open.size === 0 || handled(replayed) >= limit) done.resolve()
      },
    })
    await done.promise
  } finally {
    await consumer.disconnect()
    await producer.disconnect()
  }
  // `stop` may have come first.
  if (ended.failure !== null) throw ended.failure
  return replayed
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
