import type { IHeaders, KafkaMessage, Producer } from 'kafkajs'
import type { Buffer } from 'node:buffer'
import type { Clock } from '../../functions/_shared/base/clock.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { brokerCodeOf } from '../../functions/_shared/senders/kafka/failure.ts'
import { eventHeaders, type Original, readDeadLetter } from '../dead_letter.ts'
import { recordPublished } from '../record.ts'
import { logMoved, type Recovery } from '../recovery.ts'
import type { Replayed } from '../replayed.ts'

export type LetterDeps = {
  producer: Producer
  recovery: Recovery
  clock: Clock
  log: Log
  stop: AbortSignal
}

/**
 * Publishes a record of a dead-letter topic to its `original_topic`, and records that. `place` is its
 * partition and offset. Returns as what it counts. Rejects with NotRecorded if it is published but not
 * recorded, and with the error of the client if the cluster is unavailable.
 */
export async function replayLetter(
  { value, key, headers }: Pick<KafkaMessage, 'key' | 'value' | 'headers'>,
  { dlq, place }: { dlq: string; place: string },
  { producer, recovery, clock, log, stop }: LetterDeps,
): Promise<keyof Replayed> {
  const original = readDeadLetter(value ?? new Uint8Array())
  if (original === null) {
    log('warn', 'not a dead letter', { topic: dlq, event: place })
    return 'skipped'
  }
  const { topic, event, body } = original
  const claim = await recovery.claim(event, { kind: 'kafka', topic, exchange: null })
  if (claim.kind === 'known') return 'known'
  if (claim.kind === 'moved') {
    logMoved(event, topic, claim.to, log)
    return 'skipped'
  }
  try {
    const message = { value: body, ...placeOf(original, key, headers) }
    await producer.send({ topic, acks: -1, messages: [message] })
  } catch (error) {
    const code = brokerCodeOf(error)
    // Without a code, the cluster is unavailable. The database is not: there the dead letter is open
    // again, so that people see it.
    if (code === null) {
      await recovery.record(event, false).catch(() => {})
      throw error
    }
    await recovery.record(event, false)
    log('warn', 'dead letter not replayed', { topic, event: place, error: code })
    return 'skipped'
  }
  await recordPublished(recovery, event, { clock, log, stop })
  return 'replayed'
}

/** The key and headers of the original message; those of the letter unless it says otherwise. */
function placeOf(
  { event }: Original,
  key: Buffer | null,
  headers: IHeaders = {},
): { key: Buffer | string | null; headers: IHeaders } {
  if (event === null) return { key, headers }
  return { key: event.key, headers: { ...headers, ...eventHeaders(event) } }
}
