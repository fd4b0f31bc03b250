import { Buffer } from 'node:buffer'
import type { ChannelModel } from 'amqplib'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { connectRabbitMq } from '../../../consumer/rabbitmq/connect.ts'
import { consumeQueue } from '../../../consumer/rabbitmq/consume.ts'
import { replayQueue } from '../../../consumer/rabbitmq/replay.ts'
import { withoutDatabase } from '../../../consumer/recovery.ts'
import { startRabbitMq } from '../../_support/brokers/rabbitmq.ts'
import { type Bus, type BusMessage, type Found, headersOf } from './bus.ts'
import { patienceMs } from '../../_support/patience.ts'

/** A RabbitMQ as a bus. */
export interface RabbitMqBus extends Bus {
  /** How many messages each queue has, also those that a consumer has not acknowledged. */
  messages(): Promise<Map<string, number>>
  /** Deletes a queue, whatever it has. */
  remove(name: string): Promise<void>
}

/** A RabbitMQ behind TLS of an authority of its own, whose user, password and virtual host need escaping. */
export async function startRabbitMqBus(): Promise<RabbitMqBus> {
  const server = await startRabbitMq({ tls: true })
  const { user, password, host, tlsPort, vhost, certificates } = server
  if (certificates === null) throw new Error('RabbitMQ was started without TLS')
  const [login, secret, path] = [user, password, vhost].map(encodeURIComponent)
  const url = `amqps://${login}:${secret}@${host}:${tlsPort}/${path}`
  const connect = (): Promise<ChannelModel> => connectRabbitMq({ url, ca: certificates.ca })

  /** On a connection of its own, since a restart takes every connection away. */
  async function using<Value>(use: (connection: ChannelModel) => Promise<Value>): Promise<Value> {
    const connection = await connect()
    try {
      return await use(connection)
    } finally {
      await connection.close()
    }
  }

  const propertiesOf = (message: Pick<BusMessage, 'id' | 'headers'>) => ({
    messageId: message.id,
    correlationId: `c-${message.id}`,
    headers: headersOf(message),
  })

  return {
    name: 'RabbitMQ',
    env: { OUTHOOK_RABBITMQ_URL: url, OUTHOOK_RABBITMQ_CA: certificates.caFile },
    flag: '--queue',
    create: (name) =>
      using(async (connection) => {
        const channel = await connection.createChannel()
        await channel.assertQueue(name, { durable: true })
        await channel.close()
      }),
    send: (to, messages) =>
      using(async (connection) => {
        const channel = await connection.createConfirmChannel()
        for (const message of messages) {
          channel.sendToQueue(to, Buffer.from(message.text), {
            ...propertiesOf(message),
            persistent: true,
          })
        }
        await channel.waitForConfirms()
      }),
    sendBytes: (to, id, body) =>
      using(async (connection) => {
        const channel = await connection.createConfirmChannel()
        channel.sendToQueue(to, body, { ...propertiesOf({ id }), persistent: true })
        await channel.waitForConfirms()
      }),
    read: (name, count) =>
      using(async (connection) => {
        const channel = await connection.createChannel()
        const ready = await waitUntil(
          async () => (await channel.assertQueue(name, { durable: true })).messageCount >= count,
          { timeoutMs: patienceMs },
        )
        if (!ready) throw new Error(`less than ${count} messages in ${name}`)
        const found: Found[] = []
        // What is not acknowledged goes back when the channel ends.
        for (;;) {
          const message = await channel.get(name)
          if (message === false) break
          const id: unknown = message.properties.messageId
          found.push({
            text: message.content.toString(),
            key: null,
            id: typeof id === 'string' ? id : null,
            headers: message.properties.headers ?? {},
          })
        }
        await channel.close()
        return found
      }),
    consume: ({ from, concurrency, deps, stop }) =>
      consumeQueue({ connect, queue: from, dlq: `${from}.dlq`, concurrency, deps, stop }),
    replay: (dlq, limit = Infinity) =>
      using((connection) =>
        replayQueue({
          connection,
          dlq,
          exchange: '',
          limit,
          recovery: withoutDatabase(() => {}),
          log: () => {},
          stop: new AbortController().signal,
        })
      ),
    messages: () => server.messages(),
    remove: (name) =>
      using(async (connection) => {
        const channel = await connection.createChannel()
        await channel.deleteQueue(name)
        await channel.close()
      }),
    async restart(): Promise<void> {
      await server.stop()
      await server.start()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
