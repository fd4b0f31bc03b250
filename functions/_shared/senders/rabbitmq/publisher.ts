import type { ChannelModel, Options } from 'amqplib'
import type { Buffer } from 'node:buffer'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Outcome } from '../../contract/contract.ts'
import { type Failure, refused, unreachable } from '../broker/outcome.ts'
import { boundChannel } from './bounds.ts'
import { replyOf } from './reply.ts'

/** One message. A retry has the id of an earlier try, which may still be in flight on the channel. */
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

/** The longest timeout of an endpoint, after which nobody waits for a message any more. */
const unconfirmedMs = 60_000

/** A message in flight, and why RabbitMQ has returned it. */
type Sent = { messageId: string; returnedAs: string | null }

/** Opens a channel. Rejects if the connection is closed. */
export async function openPublisher(
  model: ChannelModel,
  clock: Clock = systemClock,
): Promise<Publisher> {
  const channel = await model.createConfirmChannel()
  boundChannel(channel)
  const underWay = new Set<Sent>()
  let isOpen = true
  let isGivenUp = false
  let stopWaiting: (() => void) | null = null
  let closedWith: unknown = null
  let lost = 0
  channel.on('return', ({ fields, properties }) => {
    const { messageId } = properties
    // It may be any of the tries of its event, so none of them counts as delivered.
    for (const sent of underWay) {
      if (sent.messageId === messageId) sent.returnedAs = `${Reflect.get(fields, 'replyText')}`
    }
  })
  channel.on('error', (error) => {
    closedWith = error
    lost = underWay.size
  })
  channel.on('close', () => isOpen = false)

  /**
   * No further message is sent on this channel, which is closed after the last one in flight, or when none of them
   * is waited for any more. A channel that was opened while a quorum queue had no leader asks the killed node for
   * ever, so RabbitMQ refuses each message on it until that node is back. Another channel knows the new leader.
   */
  function retire(): void {
    isOpen = false
    if (underWay.size === 0) close()
    else stopWaiting ??= clock.after(unconfirmedMs, giveUp)
  }

  function giveUp(): void {
    isGivenUp = true
    close()
  }

  function close(): void {
    stopWaiting?.()
    // It is closed already after an error.
    channel.close().catch(() => {})
  }

  function publish({ exchange, routingKey, content, options }: Message): Promise<Outcome> {
    const sent: Sent = { messageId: options.messageId, returnedAs: null }
    return new Promise((resolve) => {
      underWay.add(sent)
      try {
        // Its result (buffer full) is ignored: the slots of a run limit the buffer.
        channel.publish(exchange, routingKey, content, options, (error) => settle(error))
      } catch (error) {
        settle(error)
      }

      function settle(error: unknown): void {
        const { returnedAs } = sent
        underWay.delete(sent)
        // The callback's error is null or undefined for a confirmation.
        if (error !== null && error !== undefined) resolve(failureOf(error))
        else if (returnedAs === null) resolve({ outcome: 'delivered' })
        else {resolve(
            refused('NO_ROUTE', `No queue takes ${routingKey} at ${exchange}: ${returnedAs}`),
          )}
        if (isNack(error) || !isOpen) retire()
      }
    })
  }

  function failureOf(error: unknown): Failure {
    if (isNack(error)) {
      return refused('NACK', 'RabbitMQ could not take the message')
    }
    // Not an error that would also end the connection, and with it the channels of other endpoints.
    if (isGivenUp) {
      return refused('CHANNEL_CLOSED', 'RabbitMQ did not confirm the message, and refused another')
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

function isNack(error: unknown): boolean {
  return error instanceof Error && error.message === 'message nacked'
}
