import type { ChannelModel, MessageProperties } from 'amqplib'
import type { Log } from '../../functions/_shared/base/log.ts'
import { eventHeaders, type OriginalEvent, readDeadLetter } from '../dead_letter.ts'
import type { Replayed } from '../replayed.ts'
import { openPublisher } from './publish.ts'

export type RabbitMqReplayOptions = {
  connection: ChannelModel
  /** The dead-letter queue. */
  dlq: string
  /**
   * Where to put them, `original_topic` being the routing key; empty: what the letter itself says,
   * else the queue of that name.
   */
  exchange: string
  limit: number
  log: Log
  stop: AbortSignal
}

/**
 * Puts the dead letters of a queue back to their `original_topic`, with their own properties: those
 * that are there when it begins. Each leaves the queue once it has arrived.
 */
export async function replayQueue(
  { connection, dlq, exchange, limit, log, stop }: RabbitMqReplayOptions,
): Promise<Replayed> {
  const replayed: Replayed = { replayed: 0, skipped: 0 }
  const publish = await openPublisher(connection)
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  const { messageCount } = await channel.checkQueue(dlq)
  for (let n = 0; n < Math.min(messageCount, limit) && !stop.aborted; n++) {
    const letter = await channel.get(dlq)
    if (letter === false) break
    const original = readDeadLetter(letter.content)
    if (original === null) {
      // Unacknowledged, it goes back to its place when the channel closes.
      log('warn', 'not a dead letter', { topic: dlq })
      replayed.skipped++
      continue
    }
    const { event, topic, body } = original
    const to = exchange === '' ? event?.exchange ?? '' : exchange
    await publish(to, topic, body, withEvent(letter.properties, event))
    channel.ack(letter)
    replayed.replayed++
  }
  await channel.close()
  return replayed
}

/** The properties that the message had, which are the letter's own unless it says so. */
function withEvent(properties: MessageProperties, event: OriginalEvent | null): MessageProperties {
  if (event === null) return properties
  return {
    ...properties,
    messageId: event.id,
    correlationId: event.correlationId,
    headers: { ...properties.headers, ...eventHeaders(event) },
  }
}
