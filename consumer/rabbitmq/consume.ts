import type { ChannelModel, ConsumeMessage } from 'amqplib'
import { sleep } from '../../functions/_shared/base/clock.ts'
import { messageOf } from '../../functions/_shared/base/errors.ts'
import { writeDeadLetter } from '../dead_letter.ts'
import type { DeadMessage } from '../message.ts'
import { type ProcessDeps, processMessage } from '../process.ts'
import { readDelivery } from './message.ts'
import { openPublisher } from './publish.ts'
import { whileConnected } from './reconnect.ts'

export type RabbitMqConsumerOptions = {
  connect(): Promise<ChannelModel>
  queue: string
  /** A durable queue; it is created if it does not exist. */
  dlq: string
  /** How many messages are handled at once; 1 keeps their order. */
  concurrency: number
  deps: Omit<ProcessDeps, 'publishDead'>
  stop: AbortSignal
}

/** How often the length of the queue is read for the metrics. */
const lagMs = 5_000

/**
 * Consumes a queue until `stop`. A message is acknowledged only after it is handled. It retries while the
 * broker cannot be reached; the broker redelivers unacknowledged messages.
 */
export async function consumeQueue(options: RabbitMqConsumerOptions): Promise<void> {
  const { connect, queue, deps: { clock, log }, stop } = options
  await whileConnected(
    { connect, queue, clock, log, stop },
    (connection) => consumeOnce(connection, options),
  )
}

/** Runs until `stop`, or until the connection or the queue is closed. */
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
    const publishDead = (dead: DeadMessage): Promise<void> =>
      publish('', dlq, writeDeadLetter(dead, new Date(deps.clock.wallNow())), delivery.properties)
    const message = readDelivery(delivery, queue)
    const processed = await processMessage(message, { ...deps, publishDead }, over)
    deps.metrics?.processed(processed, delivery.fields.redelivered)
    // A message of the old connection cannot be acknowledged on another: it is redelivered.
    if (processed !== 'stopped' && !lost.signal.aborted) channel.ack(delivery)
  }

  async function watchLag(): Promise<void> {
    while (deps.metrics !== undefined && !over.aborted) {
      const { messageCount } = await channel.checkQueue(queue)
      // The broker counts only messages that it has not sent to a consumer yet.
      deps.metrics.lag('', messageCount + working.size)
      await sleep(deps.clock, lagMs, over)
    }
  }

  await channel.assertQueue(dlq, { durable: true })
  await channel.checkQueue(queue)
  await channel.prefetch(concurrency)
  const { consumerTag } = await channel.consume(queue, (delivery) => {
    // null: the queue was deleted.
    if (delivery === null) return lost.abort()
    if (over.aborted) return
    // If its channel is closed before the acknowledgement, the message is redelivered.
    const work = take(delivery).catch(() => lost.abort()).finally(() => working.delete(work))
    working.add(work)
  })
  deps.log('info', 'consuming', { topic: queue, kind: 'rabbitmq' })
  const watching = watchLag().catch(() => lost.abort())
  await ended
  if (!lost.signal.aborted) await channel.cancel(consumerTag)
  await Promise.all([...working, watching])
  if (lost.signal.aborted) throw new Error('the connection or the queue was closed')
  // Acknowledgements have no response: closing waits until they are sent.
  await channel.close()
}
