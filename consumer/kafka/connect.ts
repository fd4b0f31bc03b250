import {
  Kafka,
  type LogEntry,
  logLevel,
  Partitioners,
  type Producer,
  type SASLOptions,
} from 'kafkajs'
import type { Log } from '../../functions/_shared/base/log.ts'

/** A Kafka cluster and its credentials. */
export type KafkaAccess = {
  brokers: string[]
  /** `true` trusts the default roots, a text the certificates in it (PEM). */
  tls: boolean | string
  sasl: SASLOptions | null
}

/** Creates a client, which connects on demand and logs to `log`. */
export function connectKafka({ brokers, tls, sasl }: KafkaAccess, log: Log): Kafka {
  return new Kafka({
    clientId: 'outhook',
    brokers,
    ssl: typeof tls === 'string' ? { ca: tls } : tls,
    ...sasl === null ? {} : { sasl },
    connectionTimeout: 5_000,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 8 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => log('warn', 'kafka', { error: wordsOf(entry) }),
  })
}

/** Creates a producer that sends one request at a time, in order, and partitions keys like Java's client. */
export function openProducer(kafka: Kafka): Producer {
  const createPartitioner = Partitioners.DefaultPartitioner
  return kafka.producer({ createPartitioner, maxInFlightRequests: 1 })
}

function wordsOf({ namespace, log: { message, error } }: LogEntry): string {
  return [namespace, message, error].filter((part) => typeof part === 'string' && part !== '')
    .join(': ').slice(0, 500)
}
