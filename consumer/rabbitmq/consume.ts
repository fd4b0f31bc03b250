import type { ChannelModel, ConsumeMessage } from 'amqplib'
import { sleep } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { writeDeadLetter } from '../dead_letter.ts'
import type { DeadMessage } from '../message.ts'
import { type ProcessDeps, processMessage } from '../process.ts'
import { readDelivery } from './message.ts'
import { openPublisher } from './publish.ts'

export type RabbitMqConsumerOptions = {
  connect(): Promise<ChannelModel>
  queue: string
  /** A queue; it is made, durable, when it is not there. */
  dlq: string
  /** How many messages at a time; 1 keeps their order. */
  concurrency: number
  deps: Omit<ProcessDeps, 'bury'>
  stop: AbortSignal
}

const redialMs = 2_000

/**
 * Consumes a queue until `stop`: each message is seen to its end before it is acknowledged. A broker
 * that is away is waited for; what it had given out it gives out again.
 */
export async function consumeQueue(options: RabbitMqConsumerOptions): Promise<void> {
  const { connect, queue, deps: { clock, log }, stop } = options
  while (!stop.aborted) {
    try {
      const connection = await connect()
      try {
        await consumeOnce(connection, options)
      } finally {
        await connection.close().catch(() => {})
      }
    } catch (error) {
      log('warn', 'rabbitmq away', { topic: queue, error: messageOf(error) })
      await sleep(clock, redialMs, stop)
    }
  }
}

/** Until `stop`, or until the connection or the queue is gone. */
async function consumeOnce(
  connection: ChannelModel,
  { queue, dlq, concurrency, deps, stop }: RabbitMqConsumerOptions,
): Promise<void> {
  const lost = new AbortController()
  const over = AbortSignal.any([stop, lost.signal])
  const ended = new Promise<void>((resolve) => {
    if (over.aborted) resolve()
    over.addEventListener('abort', () => resolve())
  })
  connection.on('close', () => lost.abort())
  const publish = await openPublisher(connection)
  const channel = await connection.createChannel()
  channel.on('error', (error) => deps.log('warn', 'channel', { error: messageOf(error) }))
  channel.on('close', () => lost.abort())
  const working = new Set<Promise<void>>()

  async function take(delivery: ConsumeMessage): Promise<void> {
    const bury = (dead: DeadMessage): Promise<void> =>
      publish('', dlq, writeDeadLetter(dead, new Date(deps.clock.wallNow())), delivery.properties)
    const message = readDelivery(delivery, queue)
    const processed = await processMessage(message, { ...deps, bury }, over)
    // What the old connection gave out cannot be acknowledged on another: it comes again.
    if (processed !== 'stopped' && !lost.signal.aborted) channel.ack(delivery)
  }

  await channel.assertQueue(dlq, { durable: true })
  await channel.checkQueue(queue)
  await channel.prefetch(concurrency)
  const { consumerTag } = await channel.consume(queue, (delivery) => {
    // The queue was deleted.
    if (delivery === null) return lost.abort()
    if (over.aborted) return
    // An acknowledgement may come too late for its channel: then the message comes again.
    const work = take(delivery).catch(() => lost.abort()).finally(() => working.delete(work))
    working.add(work)
  })
  deps.log('info', 'consuming', { topic: queue, kind: 'rabbitmq' })
  await ended
  if (!lost.signal.aborted) await channel.cancel(consumerTag)
  await Promise.all(working)
  if (lost.signal.aborted) throw new Error('the connection or the queue was closed')
  // Acknowledgements are written without an answer: closing waits until they are through.
  await channel.close()
}
