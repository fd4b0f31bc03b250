import type { Admin } from 'kafkajs'
import { type Clock, sleep } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import type { ConsumerMetrics } from '../metrics.ts'

/** How often the ends of the partitions are read. */
const lagMs = 5_000

/** The lag of each partition, also while its next message waits for another attempt. */
export type KafkaLag = {
  /** The next offset to handle, and the end that the broker named with it. */
  at(partition: number, next: bigint, end: bigint): void
  /** Forgets all partitions, because the group has assigned them again. */
  clear(): void
  /** Reads the ends of all known partitions once. */
  read(admin: Pick<Admin, 'fetchTopicOffsets'>): Promise<void>
}

/** Creates it for the topic of these metrics. */
export function createLag(topic: string, metrics: ConsumerMetrics): KafkaLag {
  const places = new Map<number, { next: bigint; end: bigint }>()

  function at(partition: number, next: bigint, end: bigint): void {
    const known = places.get(partition)?.end ?? 0n
    const place = { next, end: end > known ? end : known }
    places.set(partition, place)
    metrics.lag(String(partition), Number(place.end - next))
  }

  return {
    at,
    clear(): void {
      places.clear()
      metrics.clearLag()
    },
    async read(admin): Promise<void> {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        const place = places.get(partition)
        if (place !== undefined) at(partition, place.next, BigInt(high))
      }
    },
  }
}

/** Reads the ends every 5 s until `stop`. An error ends no consumer: the lag stays as it was. */
export async function watchLag(
  lag: KafkaLag,
  admin: Admin,
  { clock, log }: { clock: Clock; log: Log },
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await sleep(clock, lagMs, stop)
    if (stop.aborted) return
    try {
      await admin.connect()
      await lag.read(admin)
    } catch (error) {
      log('warn', 'lag not read', { error: messageOf(error) })
    }
  }
}
