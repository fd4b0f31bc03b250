import type { ChannelModel, Options } from 'amqplib'
import type { Buffer } from 'node:buffer'
import type { Outcome } from '../../contract/contract.ts'
import { type Failure, refused, unreachable } from '../broker/outcome.ts'
import { boundChannel } from './bounds.ts'
import { replyOf } from './reply.ts'

/** One message; its id is unique among the messages in flight on the channel. */
export type Message = {
  exchange: string
  routingKey: string
  content: Buffer
  options: Options.Publish & { messageId: string }
}

/** A confirm channel of one endpoint, so that its failures affect only that endpoint. */
export type Publisher = {
  /** Resolves when RabbitMQ has confirmed the message, returned it, or closed the channel. */
  publish(message: Message): Promise<Outcome>
  readonly isOpen: boolean
}

/** Opens a channel. Rejects if the connection is closed. */
export async function openPublisher(model: ChannelModel): Promise<Publisher> {
  const channel = await model.createConfirmChannel()
  boundChannel(channel)
  const underWay = new Set<string>()
  const returned = new Map<string, string>()
  let isOpen = true
  let closedWith: unknown = null
  let lost = 0
  channel.on('return', ({ fields, properties }) => {
    const { messageId } = properties
    if (typeof messageId === 'string' && underWay.has(messageId)) {
      returned.set(messageId, `${Reflect.get(fields, 'replyText')}`)
    }
  })
  channel.on('error', (error) => {
    closedWith = error
    lost = underWay.size
  })
  channel.on('close', () => isOpen = false)

  function publish({ exchange, routingKey, content, options }: Message): Promise<Outcome> {
    const { messageId } = options
    return new Promise((resolve) => {
      underWay.add(messageId)
      try {
        // Its result (buffer full) is ignored: the slots of a run limit the buffer.
        channel.publish(exchange, routingKey, content, options, (error) => settle(error))
      } catch (error) {
        settle(error)
      }

      function settle(error: unknown): void {
        const text = returned.get(messageId)
        underWay.delete(messageId)
        returned.delete(messageId)
        // The callback's error is null or undefined for a confirmation.
        if (error !== null && error !== undefined) resolve(failureOf(error))
        else if (text === undefined) resolve({ outcome: 'delivered' })
        else resolve(refused('NO_ROUTE', `No queue takes ${routingKey} at ${exchange}: ${text}`))
      }
    })
  }

  function failureOf(error: unknown): Failure {
    if (error instanceof Error && error.message === 'message nacked') {
      return refused('NACK', 'RabbitMQ could not take the message')
    }
    const reply = replyOf(closedWith)
    if (reply === null) return unreachable(closedWith ?? Object.assign(new Error(), reset))
    // It is unknown which one of several messages was the cause, so none of them fails permanently.
    return refused(lost > 1 ? 'CHANNEL_CLOSED' : reply, `RabbitMQ closed the channel: ${reply}`)
  }

  return {
    publish,
    get isOpen() {
      return isOpen
    },
  }
}

const reset = { code: 'ECONNRESET' }
