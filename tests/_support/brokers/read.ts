import { type ChannelModel, connect, type ConsumeMessage } from 'amqplib'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { TestKafka } from './kafka.ts'
import type { TestRabbitMq } from './rabbitmq.ts'

/** A record as kcat read it. */
export interface ReadRecord {
  partition: number
  offset: number
  key: string | null
  headers: Record<string, string>
  value: string
}

/** All records that a topic has now, each partition in order, read by another client than ours. */
export async function readTopic({ bootstrap }: TestKafka, topic: string): Promise<ReadRecord[]> {
  const { success, stdout, stderr } = await new Deno.Command('kcat', {
    args: ['-C', '-b', bootstrap.join(), '-t', topic, '-e', '-q', '-J'],
    stdin: 'null',
  }).output()
  const decoder = new TextDecoder()
  if (!success) throw new Error(`kcat: ${decoder.decode(stderr)}`)
  const records = decoder.decode(stdout).trim().split('\n').filter((line) => line !== '')
    .map((line): ReadRecord => {
      const { partition, offset, key, headers = [], payload } = JSON.parse(line)
      const named: Record<string, string> = {}
      for (let at = 0; at < headers.length; at += 2) named[headers[at]] = headers[at + 1]
      return { partition, offset, key, headers: named, value: payload }
    })
  return records.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** A queue that the test reads; disposing of it closes its connection. */
export interface TestQueue extends AsyncDisposable {
  /** What it has read so far, in the order of the queue. */
  readonly messages: ConsumeMessage[]
  /** The messages once `count` different ones are there; rejects after `ms`. */
  read(count: number, ms?: number): Promise<ConsumeMessage[]>
}

/** RabbitMQ listens a moment before it completes a handshake: a connection is tried until one holds. */
async function connectTo(options: TestRabbitMq['options']): Promise<ChannelModel> {
  let failure: unknown
  for (let n = 0; n < 100; n++) {
    try {
      return await connect(options)
    } catch (error) {
      failure = error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw failure
}

/** Declares a durable queue, binds it where told, and reads it for as long as the broker stands. */
export async function openQueue(
  { options }: TestRabbitMq,
  queue: string,
  bound?: { exchange: string; pattern: string },
): Promise<TestQueue> {
  const connection = await connectTo(options)
  // The broker may be killed under it, and then there is nothing more to read.
  connection.on('error', () => {})
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  await channel.assertQueue(queue, { durable: true })
  if (bound !== undefined) await channel.bindQueue(queue, bound.exchange, bound.pattern)
  const messages: ConsumeMessage[] = []
  const ids = new Set<unknown>()
  await channel.consume(queue, (message) => {
    if (message === null) return
    messages.push(message)
    ids.add(message.properties.messageId ?? messages.length)
    channel.ack(message)
  })

  async function read(count: number, ms = 20_000): Promise<ConsumeMessage[]> {
    if (await waitUntil(() => ids.size >= count, { timeoutMs: ms })) return messages
    throw new Error(`${ids.size} of ${count} messages came within ${ms} ms`)
  }

  return {
    messages,
    read,
    [Symbol.asyncDispose]: () => connection.close().catch(() => {}),
  }
}
