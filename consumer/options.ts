import { z } from 'zod'
import type { Values } from '../supabase/local/command.ts'

/** The flags of `deno task consume`. */
export const consumeFlags = {
  topic: { type: 'string' },
  queue: { type: 'string' },
  consumer: { type: 'string' },
  function: { type: 'string' },
  url: { type: 'string' },
  dlq: { type: 'string' },
  concurrency: { type: 'string' },
  'timeout-ms': { type: 'string' },
  'metrics-port': { type: 'string' },
  'metrics-host': { type: 'string' },
  'from-end': { type: 'boolean', default: false },
} as const

export type ConsumeOptions = {
  source: { kind: 'topic' | 'queue'; name: string }
  consumer: string
  handler: { kind: 'function' | 'url'; name: string }
  dlq: string
  concurrency: number
  timeoutMs: number
  /** null: no metrics are served. */
  metricsPort: number | null
  metricsHost: string
  fromBeginning: boolean
}

/** The source that --topic or --queue names, or the problem as a sentence. */
export function readSource(
  { topic, queue }: { topic?: string | undefined; queue?: string | undefined },
): ConsumeOptions['source'] | string {
  const given = [topic, queue].filter((name) => name !== undefined && name !== '')
  if (given.length !== 1) return 'Set either --topic (Kafka) or --queue (RabbitMQ)'
  return topic === undefined ? { kind: 'queue', name: queue ?? '' } : { kind: 'topic', name: topic }
}

const word = z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/)

/** The options, or the problem as a sentence. */
export function readConsumeOptions(values: Values<typeof consumeFlags>): ConsumeOptions | string {
  const source = readSource(values)
  if (typeof source === 'string') return source
  const { function: name, url } = values
  if ((name === undefined) === (url === undefined)) {
    return 'Set either --function (public.bill_order) or --url (http://127.0.0.1:8080/events)'
  }
  if (url !== undefined && (!/^https?:\/\//.test(url) || !URL.canParse(url))) {
    return '--url is not an absolute http or https URL'
  }
  const consumer = word.safeParse(values.consumer)
  if (!consumer.success) {
    return '--consumer must be 1 to 64 letters, digits, _ . : -, such as billing'
  }
  const concurrency = readNumber(values.concurrency, source.kind === 'queue' ? 10 : 4, 1, 1000)
  if (concurrency === null) return '--concurrency must be a number from 1 to 1000'
  const timeoutMs = readNumber(values['timeout-ms'], 15_000, 100, 60_000)
  if (timeoutMs === null) return '--timeout-ms must be a number from 100 to 60000'
  const metricsPort = readNumber(values['metrics-port'], 0, 1, 65_535)
  if (metricsPort === null) return '--metrics-port must be a number from 1 to 65535'
  const dlq = values.dlq ?? `${source.name}.dlq`
  if (dlq === source.name) return '--dlq is the source of the messages: set another name'
  return {
    source,
    consumer: consumer.data,
    handler: name === undefined ? { kind: 'url', name: url ?? '' } : { kind: 'function', name },
    dlq,
    concurrency,
    timeoutMs,
    metricsPort: metricsPort === 0 ? null : metricsPort,
    metricsHost: values['metrics-host'] ?? '127.0.0.1',
    fromBeginning: !values['from-end'],
  }
}

/** A whole number within the bounds; null if it is invalid. */
export function readNumber(
  text: string | undefined,
  absent: number,
  lowest: number,
  highest: number,
): number | null {
  if (text === undefined) return absent
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  return value >= lowest && value <= highest ? value : null
}
