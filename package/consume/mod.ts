/** `outhook-worker/consume`: processes each message of a broker once, in a program of your own. */

import type { SASLOptions } from 'kafkajs'
import { systemClock } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { createLog, type Log } from '../../functions/_shared/base/log.ts'
import { type Inbox, openInbox } from '../../consumer/inbox.ts'
import type { Handle, Message } from '../../consumer/message.ts'
import type { ProcessDeps } from '../../consumer/process.ts'
import { writeTo } from '../worker/lines.ts'
import { problemOf } from './check.ts'

/** A topic of Kafka. */
export interface KafkaSource {
  topic: string
  /** `host:port` of each broker. */
  brokers: string[]
  /** TLS with the default roots, or with these certificates (PEM). */
  tls?: boolean | string
  sasl?: {
    mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    username: string
    password: string
  }
  /** Whether a group without offsets starts at the end; by default at the first record. */
  fromEnd?: boolean
}

/** A queue of RabbitMQ. */
export interface RabbitMqSource {
  queue: string
  /** `amqp://user:password@host:5672/vhost` or `amqps://…`, each part percent-encoded; several hosts with commas. */
  url: string
  /** Certificates (PEM) to trust instead of the default roots. */
  ca?: string
}

/** A message of a broker. */
export interface ConsumedMessage {
  /** The id of the event if Outhook sent it. The inbox knows processed messages by it. */
  id: string
  body: Uint8Array
  /** The parsed body; throws a SyntaxError if it is not JSON. */
  json(): unknown
  /** The topic or queue. */
  source: string
  eventType: string | null
  correlationId: string
  traceparent: string | null
  /** From 1 on. */
  attempt: number
}

/** How messages are consumed. */
export interface ConsumeOptions {
  source: KafkaSource | RabbitMqSource
  /** The connection string of the database that has the inbox. */
  dbUrl: string
  /** The name in the inbox, and Kafka's group: 1 to 64 letters, digits, `_ . : -`. */
  consumer: string
  /**
   * A function that processes a message, or the name of a SQL function of one jsonb. The message counts as
   * processed when the function resolves. If the process ends before this is stored, the message comes again;
   * a SQL function does its work in the same transaction, so it never does it twice.
   */
  handle: string | ((message: ConsumedMessage) => Promise<void> | void)
  /** The topic or queue of dead letters; by default the source with `.dlq` after it. */
  dlq?: string
  /** Messages (RabbitMQ, 10) or partitions (Kafka, 4) at a time: 1 to 1,000. */
  concurrency?: number
  /** The time limit of one attempt, 100 to 60,000; 15,000 by default. */
  timeoutMs?: number
  /** Ends it after the messages in flight. */
  signal: AbortSignal
  /** Gets each line of the log, which is JSON; by default, or if it throws, standard output does. */
  log?(line: string): void
}

/**
 * Passes each message to `handle`, with at most six attempts, and resolves after the signal. It waits while the
 * broker or the database does not respond. Rejects at once with a TypeError that names an invalid option, and if
 * `handle` names no function that can be called.
 */
export async function consume(options: ConsumeOptions): Promise<void> {
  const problem = problemOf(options)
  if (problem !== null) throw new TypeError(problem)
  const { source, consumer, dbUrl, timeoutMs = 15_000, signal } = options
  const isKafka = 'topic' in source
  const name = isKafka ? source.topic : source.queue
  const { concurrency = isKafka ? 4 : 10, dlq = `${name}.dlq` } = options
  if (dlq === name) throw new TypeError('dlq is the source of the messages: set another name')
  const log = createLog({
    debug: false,
    ...options.log === undefined ? {} : { write: writeTo(options.log) },
  })
  const inbox = openInbox({ url: dbUrl, consumer, timeoutMs, concurrency })
  try {
    const deps: Omit<ProcessDeps, 'publishDead'> = {
      handle: await handlerOf(options, inbox, timeoutMs),
      report: (dead) => inbox.report(dead, dlq),
      clock: systemClock,
      random: Math.random,
      log,
    }
    const common = { dlq, concurrency, deps, stop: signal }
    await (isKafka ? consumeKafka(source, consumer, log, common) : consumeRabbitMq(source, common))
    log('info', 'consumer stopped', { topic: name, consumer })
  } finally {
    await inbox.close()
  }
}

interface Common {
  dlq: string
  concurrency: number
  deps: Omit<ProcessDeps, 'publishDead'>
  stop: AbortSignal
}

/** Each client is loaded only if it is used. */
async function consumeKafka(
  { topic, brokers, tls = false, sasl, fromEnd = false }: KafkaSource,
  group: string,
  log: Log,
  common: Common,
): Promise<void> {
  const { connectKafka } = await import('../../consumer/kafka/connect.ts')
  const { consumeTopic } = await import('../../consumer/kafka/consume.ts')
  // SAFETY: kafkajs has a type for each mechanism, all with these members.
  const login = (sasl ?? null) as SASLOptions | null
  const kafka = connectKafka({ brokers, tls, sasl: login }, log)
  await consumeTopic({ kafka, topic, group, fromBeginning: !fromEnd, ...common })
}

async function consumeRabbitMq(
  { queue, url, ca = null }: Omit<RabbitMqSource, 'ca'> & { ca?: string | null },
  common: Common,
): Promise<void> {
  const { connectRabbitMq } = await import('../../consumer/rabbitmq/connect.ts')
  const { consumeQueue } = await import('../../consumer/rabbitmq/consume.ts')
  await consumeQueue({ connect: () => connectRabbitMq({ url, ca }), queue, ...common })
}

async function handlerOf(
  { handle }: ConsumeOptions,
  inbox: Inbox,
  timeoutMs: number,
): Promise<Handle> {
  if (typeof handle === 'string') {
    await inbox.check(handle)
    return (message) => inbox.consume(message, handle)
  }
  return (message, attempt) =>
    inbox.around(message, async () => {
      try {
        await inTime(Promise.resolve(handle(consumed(message, attempt))), timeoutMs)
        return { kind: 'done' }
      } catch (error) {
        return { kind: 'failed', error: messageOf(error), isFinal: false }
      }
    })
}

/** The function may go on after this, but its result does not count any more. */
async function inTime(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const says = `The handler took more than ${timeoutMs} ms`
    timer = setTimeout(() => reject(new Error(says)), timeoutMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function consumed(message: Message, attempt: number): ConsumedMessage {
  return { ...message, attempt, json: () => JSON.parse(message.body.toString('utf8')) }
}
