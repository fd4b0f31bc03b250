import type { ChannelModel, ConsumeMessage } from 'amqplib'
import { messageOf } from '../../../functions/_shared/base/errors.ts'
import { writeDeadLetter } from '../../dead_letter.ts'
import type { DeadMessage, Processed } from '../../message.ts'
import { readDelivery } from '../../rabbitmq/message.ts'
import { openPublisher } from '../../rabbitmq/publish.ts'
import { whileConnected } from '../../rabbitmq/reconnect.ts'
import { type BatchDeps, type Carried, processBatch } from '../batch.ts'
import { headerText, readCarried } from '../event.ts'
import { declareLane } from './route.ts'

export type LaneOptions = {
  connect(): Promise<ChannelModel>
  /** The queue of the database. */
  lane: string
  /** The queue from which its messages come; dead letters name it, and are replayed to it. */
  queue: string
  /** A durable queue; it is created if it does not exist. */
  dlq: string
  /** How many messages are published in one transaction. */
  most: number
  deps: Omit<BatchDeps, 'publishDead'>
  /** Is told the result of each message that is acknowledged. */
  processed(result: Processed): void
  stop: AbortSignal
}

/**
 * Publishes the messages of a lane in its database, in order, until `stop`. They are acknowledged after the
 * commit. A lane has its own connection, so that what closes it disturbs no other.
 */
export async function consumeLane(options: LaneOptions): Promise<void> {
  const { connect, lane, deps: { clock, log }, stop } = options
  await whileConnected(
    { connect, queue: lane, clock, log, stop },
    (connection) => consumeOnce(connection, options),
  )
}

/** Runs until `stop`, or until the connection or the queue is closed. */
async function consumeOnce(connection: ChannelModel, options: LaneOptions): Promise<void> {
  const { lane, queue, dlq, most, deps, processed, stop } = options
  const lost = new AbortController()
  const over = AbortSignal.any([stop, lost.signal])
  connection.on('close', () => lost.abort())
  const publish = await openPublisher(connection)
  const channel = await connection.createChannel()
  channel.on('error', (error) => deps.log('warn', 'channel', { error: messageOf(error) }))
  channel.on('close', () => lost.abort())
  const waiting: ConsumeMessage[] = []
  let wake = (): void => {}
  over.addEventListener('abort', () => wake())

  async function take(batch: readonly ConsumeMessage[]): Promise<void> {
    const properties = new Map<DeadMessage['message'], ConsumeMessage['properties']>()
    const carried = batch.map((delivery) => {
      const one = readLane(delivery, queue)
      properties.set(one.message, delivery.properties)
      return one
    })
    async function publishDead(dead: DeadMessage): Promise<void> {
      const own = properties.get(dead.message)
      if (own === undefined) throw new Error('a dead message that was not received')
      await publish('', dlq, writeDeadLetter(dead, new Date(deps.clock.wallNow())), own)
    }
    const results = await processBatch(carried, { ...deps, publishDead }, over)
    for (const [at, delivery] of batch.entries()) {
      const result = results[at] ?? 'stopped'
      // Of the old connection: it is redelivered.
      if (result === 'stopped' || lost.signal.aborted) return
      channel.ack(delivery)
      processed(result)
    }
  }

  await channel.assertQueue(dlq, { durable: true })
  await declareLane(channel, lane)
  // The next batch comes while this one is committed.
  await channel.prefetch(2 * most)
  const { consumerTag } = await channel.consume(lane, (delivery) => {
    // null: the queue was deleted.
    if (delivery === null) return lost.abort()
    waiting.push(delivery)
    wake()
  })
  deps.log('info', 'consuming', { topic: lane, kind: 'rabbitmq' })
  while (!over.aborted) {
    if (waiting.length > 0) await take(waiting.splice(0, most))
    else await new Promise<void>((resolve) => wake = resolve)
  }
  if (lost.signal.aborted) throw new Error('the connection or the queue was closed')
  await channel.cancel(consumerTag)
  // Acknowledgements have no response: closing waits until they are sent.
  await channel.close()
}

/** A message of a lane, as one of the queue from which it comes. */
function readLane(delivery: ConsumeMessage, queue: string): Carried {
  const headers: Record<string, unknown> = delivery.properties.headers ?? {}
  return {
    message: readDelivery(delivery, queue),
    event: readCarried((name) => headerText(headers[name]), delivery.content),
  }
}
