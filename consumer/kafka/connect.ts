import {
  Kafka,
  type LogEntry,
  logLevel,
  Partitioners,
  type Producer,
  type SASLOptions,
} from 'kafkajs'
import type { Log } from '../../functions/_shared/base/log.ts'

/** Where a Kafka cluster is, and as whom it is asked. */
export type KafkaAccess = {
  brokers: string[]
  /** `true` trusts the usual roots, a text the certificates in it (PEM). */
  tls: boolean | string
  sasl: SASLOptions | null
}

/** A client; it connects when it is used. What it says goes to `log`. */
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

/** What writes records, one request at a time and so in order; a key picks what Java's client picks. */
export function openProducer(kafka: Kafka): Producer {
  const createPartitioner = Partitioners.DefaultPartitioner
  return kafka.producer({ createPartitioner, maxInFlightRequests: 1 })
}

function wordsOf({ namespace, log: { message, error } }: LogEntry): string {
  return [namespace, message, error].filter((part) => typeof part === 'string' && part !== '')
    .join(': ').slice(0, 500)
}
