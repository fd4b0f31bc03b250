import type { Buffer } from 'node:buffer'
import type { ChannelModel, MessageProperties, Options } from 'amqplib'

/** Publishes a message; resolves when the broker has it, and rejects if no queue takes it. */
export type Publish = (
  exchange: string,
  routingKey: string,
  content: Buffer,
  properties: MessageProperties,
) => Promise<void>

/** Opens a confirm channel; a message that the broker refuses or returns is a rejection. */
export async function openPublisher(connection: ChannelModel): Promise<Publish> {
  const channel = await connection.createConfirmChannel()
  const returned = new Set<string>()
  channel.on('error', () => {})
  channel.on('return', ({ properties }) => returned.add(String(properties.headers?.[mark])))

  return function publish(exchange, routingKey, content, properties): Promise<void> {
    const id = crypto.randomUUID()
    const options: Options.Publish = {
      ...optionsOf(properties),
      headers: { ...properties.headers, [mark]: id },
      mandatory: true,
      persistent: true,
    }
    return new Promise((resolve, reject) => {
      channel.publish(exchange, routingKey, content, options, (error) => {
        // The broker returns a message before it confirms it.
        if (error !== null && error !== undefined) reject(error)
        else if (returned.delete(id)) reject(new Error(`No queue takes messages of ${routingKey}`))
        else resolve()
      })
    })
  }
}

/** Identifies returned messages; consumers ignore it. */
const mark = 'x-outhook-publish'

/** The properties of a message, without those of its delivery. */
function optionsOf(
  { contentType, contentEncoding, priority, correlationId, messageId, timestamp, type, appId }:
    MessageProperties,
): Options.Publish {
  const options: Options.Publish = {}
  if (contentType !== undefined) options.contentType = contentType
  if (contentEncoding !== undefined) options.contentEncoding = contentEncoding
  if (priority !== undefined) options.priority = priority
  if (correlationId !== undefined) options.correlationId = correlationId
  if (messageId !== undefined) options.messageId = messageId
  if (timestamp !== undefined) options.timestamp = timestamp
  if (type !== undefined) options.type = type
  if (appId !== undefined) options.appId = appId
  return options
}
