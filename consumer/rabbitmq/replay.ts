import type { ChannelModel, MessageProperties } from 'amqplib'
import { type Clock, systemClock } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { eventHeaders, type OriginalEvent, readDeadLetter } from '../dead_letter.ts'
import { recordPublished } from '../record.ts'
import { logMoved, type Recovery } from '../recovery.ts'
import type { Replayed } from '../replayed.ts'
import { openPublisher } from './publish.ts'

export type RabbitMqReplayOptions = {
  connection: ChannelModel
  dlq: string
  /**
   * The exchange, with `original_topic` as the routing key; empty: the exchange in the letter, or the queue
   * of that name.
   */
  exchange: string
  limit: number
  recovery: Recovery
  log: Log
  stop: AbortSignal
  clock?: Clock
}

/**
 * Publishes the dead letters of a queue to their `original_topic` again, with their properties: those
 * that exist when it starts. Each is removed from the queue after it has arrived. Rejects with
 * NotRecorded if the database does not record a published one. Then this one is removed, and nothing
 * more is published.
 */
export async function replayQueue(
  options: RabbitMqReplayOptions,
): Promise<Replayed> {
  const { connection, dlq, exchange, limit, recovery, log, stop, clock = systemClock } = options
  const replayed: Replayed = { replayed: 0, skipped: 0, known: 0 }
  const publish = await openPublisher(connection)
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  const { messageCount } = await channel.checkQueue(dlq)
  for (let n = 0; n < Math.min(messageCount, limit) && !stop.aborted; n++) {
    const letter = await channel.get(dlq)
    if (letter === false) break
    const original = readDeadLetter(letter.content)
    if (original === null) {
      // Unacknowledged, it returns to its place when the channel closes.
      log('warn', 'not a dead letter', { topic: dlq })
      replayed.skipped++
      continue
    }
    const { event, topic, body } = original
    const to = exchange === '' ? event?.exchange ?? '' : exchange
    const named = exchange === '' ? to : null
    const claim = await recovery.claim(event, { kind: 'rabbitmq', topic, exchange: named })
    if (claim.kind === 'known') {
      channel.ack(letter)
      replayed.known++
      continue
    }
    if (claim.kind === 'moved') {
      logMoved(event, topic, claim.to, log)
      replayed.skipped++
      continue
    }
    try {
      await publish(to, topic, body, withEvent(letter.properties, event))
    } catch (error) {
      log('warn', 'dead letter not replayed', { topic, error: messageOf(error) })
      replayed.skipped++
      await recovery.record(event, false)
      continue
    }
    replayed.replayed++
    try {
      await recordPublished(recovery, event, { clock, log, stop })
      channel.ack(letter)
    } catch (error) {
      // A letter whose message is published must not stay in the queue.
      channel.ack(letter)
      await channel.close()
      throw error
    }
  }
  await channel.close()
  return replayed
}

/** The properties of the original message; those of the letter unless it says otherwise. */
function withEvent(properties: MessageProperties, event: OriginalEvent | null): MessageProperties {
  if (event === null) return properties
  return {
    ...properties,
    messageId: event.id,
    correlationId: event.correlationId,
    headers: { ...properties.headers, ...eventHeaders(event) },
  }
}
