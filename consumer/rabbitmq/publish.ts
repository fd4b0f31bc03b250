import type { Buffer } from 'node:buffer'
import type { ChannelModel, ConfirmChannel, MessageProperties, Options } from 'amqplib'

/** Publishes a message; resolves when the broker has it, and rejects if no queue takes it. */
export type Publish = (
  exchange: string,
  routingKey: string,
  content: Buffer,
  properties: MessageProperties,
) => Promise<void>

/** A confirm channel, and the marks of the messages that the broker returned on it. */
type Open = { channel: ConfirmChannel; returned: Set<string> }

/**
 * Publishes on a confirm channel; a message that the broker refuses or returns is a rejection. The broker
 * closes the channel after some errors. The next message then opens another one.
 */
export async function openPublisher(connection: ChannelModel): Promise<Publish> {
  let current: Promise<Open> | null = null

  function open(): Promise<Open> {
    const opening = openChannel(connection, forget)
    function forget(): void {
      if (current === opening) current = null
    }
    opening.catch(forget)
    return current = opening
  }

  await open()
  return async function publish(exchange, routingKey, content, properties): Promise<void> {
    const { channel, returned } = await (current ?? open())
    const id = crypto.randomUUID()
    const options: Options.Publish = {
      ...optionsOf(properties),
      headers: { ...properties.headers, [mark]: id },
      mandatory: true,
      persistent: true,
    }
    await new Promise<void>((resolve, reject) => {
      channel.publish(exchange, routingKey, content, options, (error) => {
        // The broker returns a message before it confirms it.
        if (error !== null && error !== undefined) reject(error)
        else if (returned.delete(id)) reject(new Error(`No queue takes messages of ${routingKey}`))
        else resolve()
      })
    })
  }
}

async function openChannel(connection: ChannelModel, closed: () => void): Promise<Open> {
  const channel = await connection.createConfirmChannel()
  const returned = new Set<string>()
  channel.on('error', () => {})
  channel.on('close', closed)
  channel.on('return', ({ properties }) => returned.add(String(properties.headers?.[mark])))
  return { channel, returned }
}

/** Identifies returned messages; consumers ignore it. */
const mark = 'x-outhook-publish'

/** The properties of a message, without those of its delivery. */
export function optionsOf(
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
