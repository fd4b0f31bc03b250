import type { ChannelModel, MessageProperties } from 'amqplib'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { eventHeaders, type OriginalEvent, readDeadLetter } from '../dead_letter.ts'
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
  log: Log
  stop: AbortSignal
}

/**
 * Publishes the dead letters of a queue to their `original_topic` again, with their properties: those
 * that exist when it starts. Each is removed from the queue after it has arrived.
 */
export async function replayQueue(
  { connection, dlq, exchange, limit, log, stop }: RabbitMqReplayOptions,
): Promise<Replayed> {
  const replayed: Replayed = { replayed: 0, skipped: 0 }
  let publish = await openPublisher(connection)
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
    try {
      await publish(to, topic, body, withEvent(letter.properties, event))
    } catch (error) {
      log('warn', 'dead letter not replayed', { topic, error: messageOf(error) })
      replayed.skipped++
      // The broker closes the channel if there is no such exchange. This rejects without a connection.
      publish = await openPublisher(connection)
      continue
    }
    channel.ack(letter)
    replayed.replayed++
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
