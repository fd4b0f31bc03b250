import type { ConfirmChannel } from 'amqplib'

/** RabbitMQ's own limit, which both sides agree on. amqplib would read frames of 64 MB. */
export const mostFrameBytes = 131_072
/** A returned message is one of ours, and an event has less. */
const mostReturnedBytes = 16_777_216

/** The members of a channel of amqplib 2.3.1. */
type Inner = {
  /** The number of the first message that is not confirmed, and the callbacks from it on. */
  lwm: number
  unconfirmed: unknown[]
  accept(frame: Frame): void
}
type Frame = { fields?: { deliveryTag?: number }; size?: number }

/**
 * Ends the connection if the broker confirms a message that it did not get, or returns one that is too long.
 * amqplib takes the number of the message as a place in its array, and walks through four billion places when
 * the channel is closed; and it keeps all parts of a message.
 */
export function boundChannel(channel: ConfirmChannel): void {
  // SAFETY: the version of amqplib is pinned, and tests/functions/_shared/senders/rabbitmq use these members.
  const inner = channel as unknown as Inner
  const { accept } = inner
  inner.accept = function (frame): void {
    const tag = frame.fields?.deliveryTag
    if (tag !== undefined && !(tag >= inner.lwm && tag < inner.lwm + inner.unconfirmed.length)) {
      throw new Error('The broker confirms a message that was not sent')
    }
    if (frame.size !== undefined && frame.size > mostReturnedBytes) {
      throw new Error('The broker returns a message that is too long')
    }
    accept.call(inner, frame)
  }
}
