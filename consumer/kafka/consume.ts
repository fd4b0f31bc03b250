import type { EachBatchPayload, Kafka, KafkaMessage as KafkaRecord } from 'kafkajs'
import { type Clock, sleep } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { brokerCodeOf } from '../../functions/_shared/senders/kafka/failure.ts'
import { writeDeadLetter, writeShortLetter } from '../dead_letter.ts'
import { deferred } from '../deferred.ts'
import type { DeadMessage, Message, Processed } from '../message.ts'
import { type ProcessDeps, processMessage } from '../process.ts'
import { openProducer } from './connect.ts'
import { createLag, watchLag } from './lag.ts'
import { readRecord } from './message.ts'

export type KafkaConsumerOptions = {
  kafka: Kafka
  topic: string
  dlq: string
  group: string
  /** How many partitions are handled at once; messages of one partition are handled in order. */
  concurrency: number
  /** Whether a group without offsets starts at the first record, or at the end. */
  fromBeginning: boolean
  /** How long the group waits for a silent member. */
  sessionMs?: number
  deps: Omit<ProcessDeps, 'publishDead'>
  /** Handles several records of a partition at once; absent: one by one. */
  several?: Several
  stop: AbortSignal
}

/** A record, and the message in it. */
export type Received = { record: KafkaRecord; message: Message }

export type Several = {
  /** How many at most. */
  most: number
  /** The results have the order of the records. */
  process(
    received: readonly Received[],
    deps: ProcessDeps,
    stop: AbortSignal,
  ): Promise<Processed[]>
}

const oneByOne: Several = {
  most: 1,
  process: (received, deps, stop) =>
    Promise.all(received.map(({ message }) => processMessage(message, deps, stop))),
}

/** A message may take six attempts of 15 s and the waits between them. */
const rebalanceMs = 180_000
const usualSessionMs = 10_000
const heartbeatMs = 3_000
/** How long a broker waits for more records before it responds; a stop waits for it. */
const fetchMs = 1_000
const redialMs = 2_000

/**
 * Consumes a topic until `stop`. The offset of a record is committed only after the record is handled, so
 * nothing is lost. It retries while the cluster cannot be reached.
 */
export async function consumeTopic(options: KafkaConsumerOptions): Promise<void> {
  const { stop, deps: { clock, log }, topic } = options
  while (!stop.aborted) {
    try {
      await consumeOnce(options)
    } catch (error) {
      log('warn', 'kafka unavailable', { topic, error: messageOf(error) })
      await sleep(clock, redialMs, stop)
    }
  }
}

/** One membership of the group, until `stop` or until the client fails. */
async function consumeOnce(options: KafkaConsumerOptions): Promise<void> {
  const { kafka, topic, dlq, group, concurrency, fromBeginning, deps, stop } = options
  const { sessionMs = usualSessionMs, several = oneByOne } = options
  const producer = openProducer(kafka)
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionMs,
    rebalanceTimeout: rebalanceMs,
    heartbeatInterval: heartbeatMs,
    maxWaitTimeInMs: fetchMs,
  })
  const ended = deferred()
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) ended.reject(payload.error)
  })
  const lag = deps.metrics === undefined ? null : createLag(topic, deps.metrics)
  consumer.on(consumer.events.GROUP_JOIN, () => lag?.clear())
  const halt = (): void => ended.resolve()
  stop.addEventListener('abort', halt)

  async function takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, commitOffsetsIfNecessary } = payload
    // A message that waits for its next attempt must not end the membership.
    const beat = setInterval(() => heartbeat().catch(() => {}), heartbeatMs)
    try {
      for (let at = 0; at < batch.messages.length; at += several.most) {
        if (!payload.isRunning() || payload.isStale()) return
        const received = batch.messages.slice(at, at + several.most).map((record) => ({
          record,
          message: readRecord(record, topic, batch.partition),
        }))
        const end = BigInt(batch.highWatermark)
        lag?.at(batch.partition, BigInt(received[0]?.record.offset ?? 0), end)
        const publishDead = async (dead: DeadMessage): Promise<void> => {
          const one = received.find(({ message }) => message === dead.message)
          if (one === undefined) throw new Error('a dead message that was not received')
          await put(dead, one.record, `${topic}/${batch.partition}/${one.record.offset}`)
        }
        const results = await several.process(received, { ...deps, publishDead }, stop)
        for (const [index, { record }] of received.entries()) {
          const processed = results[index] ?? 'stopped'
          if (processed === 'stopped') return
          deps.metrics?.processed(processed, false)
          lag?.at(batch.partition, BigInt(record.offset) + 1n, end)
          resolveOffset(record.offset)
        }
        await commitOffsetsIfNecessary()
      }
    } finally {
      clearInterval(beat)
    }
  }

  /**
   * Publishes with the record's own key and headers, which a replay needs. If the letter is too large for
   * the cluster, a letter with the place of the record is published instead, because the later
   * messages of the partition must not wait.
   */
  async function put(
    dead: DeadMessage,
    { key, headers }: KafkaRecord,
    place: string,
  ): Promise<void> {
    const failedAt = new Date(deps.clock.wallNow())
    const value = writeDeadLetter(dead, failedAt)
    try {
      await producer.send({
        topic: dlq,
        acks: -1,
        messages: [{ key: key ?? null, value, ...headers === undefined ? {} : { headers } }],
      })
    } catch (error) {
      if (!/^(MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/.test(brokerCodeOf(error) ?? '')) {
        throw error
      }
      const short = writeShortLetter(dead, failedAt, place)
      await producer.send({ topic: dlq, acks: -1, messages: [{ key: null, value: short }] })
    }
  }

  const admin = kafka.admin()
  const over = new AbortController()
  let watching = Promise.resolve()
  try {
    await producer.connect()
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning })
    await consumer.run({
      eachBatch: takeBatch,
      eachBatchAutoResolve: false,
      autoCommitInterval: 1_000,
      autoCommitThreshold: 100,
      partitionsConsumedConcurrently: concurrency,
    })
    deps.log('info', 'consuming', { topic, consumer: group, kind: 'kafka' })
    if (lag !== null) watching = watchLag(lag, admin, deps, over.signal)
    await ended.promise
  } finally {
    stop.removeEventListener('abort', halt)
    over.abort()
    await watching
    await leave([consumer, producer, admin], deps)
  }
}

/** Ends the membership: commits handled offsets, so that others can take the partitions at once. */
async function leave(
  clients: { disconnect(): Promise<void> }[],
  { log }: { clock: Clock; log: Log },
): Promise<void> {
  for (const client of clients) {
    await client.disconnect().catch((error) => {
      log('warn', 'kafka not left', { error: messageOf(error) })
    })
  }
}
