import type { Family, Labels } from '../functions/metrics/family.ts'
import { contentTypes, type Format, writeText } from '../functions/metrics/text.ts'
import type { Processed } from './message.ts'

/** The metrics of one consumer process, since its start. */
export type ConsumerMetrics = {
  /** Counts a message; `redelivered`: the broker says that it delivered the message before. */
  processed(result: Processed, redelivered: boolean): void
  /** How many messages of a partition, or of the queue (''), are not handled yet. */
  lag(partition: string, messages: number): void
  /** Forgets all lags, because this process may have other partitions now. */
  clearLag(): void
  text(format: Format): string
}

/** Creates them for the consumer `consumer` of the topic or queue `topic`. */
export function createMetrics(consumer: string, topic: string): ConsumerMetrics {
  const ended: Record<Exclude<Processed, 'stopped'>, number> = { done: 0, known: 0, dead: 0 }
  const lags = new Map<string, number>()
  let again = 0
  const base: Labels = [['consumer', consumer], ['topic', topic]]

  return {
    processed(result, redelivered): void {
      if (result === 'stopped') return
      ended[result]++
      // Kafka does not mark a record that it delivers again, but the inbox knows its id.
      if (redelivered || result === 'known') again++
    },
    lag(partition, messages): void {
      lags.set(partition, Math.max(0, messages))
    },
    clearLag: () => lags.clear(),
    text(format): string {
      const families: Family[] = [
        {
          name: 'outhook_consumer_messages',
          type: 'counter',
          help: 'Messages by result: done, known (handled before), dead (dead letter)',
          samples: Object.entries(ended).map(([result, value]) => ({
            labels: [...base, ['result', result] as const],
            value,
          })),
        },
        {
          name: 'outhook_consumer_redelivered',
          type: 'counter',
          help: 'Messages that came again: the broker marked them, or they were handled before',
          samples: [{ labels: base, value: again }],
        },
        {
          name: 'outhook_consumer_lag',
          type: 'gauge',
          help: 'Messages that are not handled yet, by partition of Kafka',
          samples: [...lags].sort().map(([partition, value]) => ({
            labels: partition === '' ? base : [...base, ['partition', partition] as const],
            value,
          })),
        },
      ]
      return writeText(families, format)
    },
  }
}

/** Serves the metrics at `/metrics` of this address until `stop`; returns the port. */
export function serveMetrics(
  metrics: ConsumerMetrics,
  address: { hostname: string; port: number },
  stop: AbortSignal,
): number {
  const server = Deno.serve({ ...address, signal: stop, onListen: () => {} }, (request) => {
    if (new URL(request.url).pathname !== '/metrics') return new Response(null, { status: 404 })
    const accepts = request.headers.get('accept') ?? ''
    const format = accepts.includes('application/openmetrics-text') ? 'openmetrics' : 'prometheus'
    return new Response(metrics.text(format), { headers: { 'content-type': contentTypes[format] } })
  })
  return server.addr.port
}
