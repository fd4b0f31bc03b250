import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib'
import type { Clock } from '../../../functions/_shared/base/clock.ts'
import { messageOf } from '../../../functions/_shared/base/errors.ts'
import type { Log } from '../../../functions/_shared/base/log.ts'
import { optionsOf } from '../../rabbitmq/publish.ts'
import { whileConnected } from '../../rabbitmq/reconnect.ts'

export type RouterOptions = {
  connect(): Promise<ChannelModel>
  queue: string
  /** The queues of the databases. */
  lanes: readonly string[]
  /** The queues of the databases of a message, at least one. */
  lanesOf(delivery: ConsumeMessage): readonly string[]
  /** How many messages are on their way at once. */
  prefetch: number
  clock: Clock
  log: Log
  stop: AbortSignal
}

/**
 * Moves each message of a queue to the queues of its databases, in the same order, until `stop`. So a database
 * that is unavailable keeps its messages in its own queue, and no others wait. A message is acknowledged only
 * after all its new queues have it.
 */
export async function routeQueue(options: RouterOptions): Promise<void> {
  await whileConnected(options, (connection) => routeOnce(connection, options))
}

/** Runs until `stop`, or until a message cannot be moved: the broker then delivers all of them again, in order. */
async function routeOnce(connection: ChannelModel, options: RouterOptions): Promise<void> {
  const { queue, lanes, lanesOf, prefetch, log, stop } = options
  const lost = new AbortController()
  const over = AbortSignal.any([stop, lost.signal])
  const ended = new Promise<void>((resolve) => {
    if (over.aborted) resolve()
    over.addEventListener('abort', () => resolve())
  })
  connection.on('close', () => lost.abort())
  const channel = await connection.createConfirmChannel()
  channel.on('error', (error) => log('warn', 'channel', { error: messageOf(error) }))
  channel.on('close', () => lost.abort())
  // The broker returns a message before it confirms it: it is not acknowledged then.
  channel.on('return', () => lost.abort())
  for (const lane of lanes) await declareLane(channel, lane)
  await channel.checkQueue(queue)
  await channel.prefetch(prefetch)
  const moving = new Set<Promise<void>>()

  function send(lane: string, delivery: ConsumeMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      channel.sendToQueue(lane, delivery.content, {
        ...optionsOf(delivery.properties),
        headers: { ...delivery.properties.headers },
        mandatory: true,
        persistent: true,
      }, (error) => error === null || error === undefined ? resolve() : reject(error))
    })
  }

  async function move(delivery: ConsumeMessage): Promise<void> {
    // If one queue does not take it, all get it again, and a database that has it knows it.
    await Promise.all(lanesOf(delivery).map((lane) => send(lane, delivery)))
    if (!lost.signal.aborted) channel.ack(delivery)
  }

  const { consumerTag } = await channel.consume(queue, (delivery) => {
    // null: the queue was deleted.
    if (delivery === null) return lost.abort()
    if (over.aborted) return
    const work = move(delivery).catch(() => lost.abort()).finally(() => moving.delete(work))
    moving.add(work)
  })
  log('info', 'routing', { topic: queue, kind: 'rabbitmq' })
  await ended
  if (!lost.signal.aborted) await channel.cancel(consumerTag)
  await Promise.race([Promise.all(moving), aborted(lost.signal)])
  if (lost.signal.aborted) throw new Error('the connection or the queue was closed')
  // Acknowledgements have no response: closing waits until they are sent.
  await channel.close()
}

/** Only one process at a time takes messages of it, so that their order is kept. */
export async function declareLane(
  channel: Pick<ConfirmChannel, 'assertQueue'>,
  lane: string,
): Promise<void> {
  await channel.assertQueue(lane, {
    durable: true,
    arguments: { 'x-single-active-consumer': true },
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
}
