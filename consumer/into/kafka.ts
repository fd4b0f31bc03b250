import { orgHeader } from '../../functions/_shared/senders/broker/record.ts'
import type { Received } from '../kafka/consume.ts'
import type { Processed } from '../message.ts'
import { type BatchDeps, type Carried, processBatch } from './batch.ts'
import { headerText, readCarried } from './event.ts'

export type OwnOptions = {
  /** Whether the database is that of an organisation; '' is a record without one. */
  isOwn(org: string): boolean
  processed(result: Processed): void
  stop: AbortSignal
}

/**
 * Publishes those of the records that are for one database. Each database has a group of its own, which reads
 * the whole topic, so that one that is unavailable holds no other back.
 */
export async function takeOwn(
  received: readonly Received[],
  deps: BatchDeps,
  { isOwn, processed, stop }: OwnOptions,
): Promise<Processed[]> {
  const own: Carried[] = []
  const places = received.map(({ record: { headers = {}, value }, message }): number | null => {
    if (!isOwn(headerText(headers[orgHeader]) ?? '')) return null
    const event = value === null
      ? 'The record has no value'
      : readCarried((name) => headerText(headers[name]), value)
    return own.push({ message, event }) - 1
  })
  const results = own.length === 0 ? [] : await processBatch(own, deps, stop)
  for (const result of results) processed(result)
  return places.map((place) => place === null ? 'known' : results[place] ?? 'stopped')
}
