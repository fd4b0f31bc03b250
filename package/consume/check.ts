import { isAmqpUrl, isBroker } from '../../consumer/addresses.ts'
import { connectionUrlProblem } from '../../functions/_shared/database/url.ts'
import type { ConsumeOptions } from './mod.ts'

/**
 * The first invalid option, as a sentence that never has its value, or null. A program may pass what an unset
 * variable has, which no type of TypeScript stops.
 */
export function problemOf(options: { [Name in keyof ConsumeOptions]: unknown }): string | null {
  const { dbUrl, consumer, handle, dlq, concurrency, timeoutMs, signal, log } = options
  const source = sourceProblem(options.source)
  if (source !== null) return source
  if (!isText(dbUrl)) return "dbUrl must be the database's connection string"
  const problem = connectionUrlProblem(dbUrl)
  if (problem !== null) return `dbUrl ${problem}`
  if (!isText(consumer) || !/^[A-Za-z0-9_.:-]{1,64}$/.test(consumer)) {
    return 'consumer must be 1 to 64 letters, digits, _ . : -, such as billing'
  }
  if (!isText(handle) && typeof handle !== 'function') {
    return 'handle must be a function, or the name of a SQL function'
  }
  if (dlq !== undefined && !isText(dlq)) return 'dlq must be the name of a topic or queue'
  if (!isNumber(concurrency ?? 1, 1, 1_000)) {
    return 'concurrency must be a whole number from 1 to 1000'
  }
  if (!isNumber(timeoutMs ?? 100, 100, 60_000)) {
    return 'timeoutMs must be a whole number from 100 to 60000'
  }
  if (!(signal instanceof AbortSignal)) return 'signal must be an AbortSignal'
  if (log !== undefined && typeof log !== 'function') return 'log must be a function'
  return null
}

function sourceProblem(source: unknown): string | null {
  if (typeof source !== 'object' || source === null || 'topic' in source === 'queue' in source) {
    return 'source must have either a topic (Kafka) or a queue (RabbitMQ)'
  }
  if ('topic' in source) {
    if (!isText(source.topic)) return 'source.topic must be the name of a topic'
    const brokers: unknown = 'brokers' in source ? source.brokers : undefined
    return Array.isArray(brokers) && brokers.length > 0 &&
        brokers.every((one) => isText(one) && isBroker(one))
      ? null
      : 'source.brokers must be a list of host:port'
  }
  if (!('queue' in source && isText(source.queue))) {
    return 'source.queue must be the name of a queue'
  }
  return 'url' in source && isText(source.url) && isAmqpUrl(source.url)
    ? null
    : 'source.url must be amqp://user:password@host:5672/vhost or amqps://…, each part percent-encoded'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isNumber(value: unknown, lowest: number, highest: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= highest
}
