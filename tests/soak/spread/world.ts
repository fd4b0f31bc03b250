/** A source, a RabbitMQ and three databases of one organisation, with all that carries events between them. */

import { join } from 'node:path'
import { variablePrefix } from '../../../consumer/into/databases.ts'
import { connectRabbitMq } from '../../../consumer/rabbitmq/connect.ts'
import { startProxy, type TestProxy } from '../../_support/brokers/proxy.ts'
import { startRabbitMq, type TestRabbitMq } from '../../_support/brokers/rabbitmq.ts'
import type { Receiver } from '../../e2e/receiver/receiver.ts'
import { makeDisk } from '../chaos/disk.ts'
import { Ledger } from '../chaos/ledger.ts'
import { type Publishers, startPublishers } from '../chaos/publishers.ts'
import { startReceivers } from '../chaos/receivers.ts'
import { Server } from '../chaos/server.ts'
import { createTargets } from '../chaos/targets.ts'
import { startWorkers, type Workers } from '../chaos/workers.ts'
import { ignoreDeadSockets } from '../chaos/world.ts'
import { type Consumers, createConsumers } from './consumers.ts'
import { slowMoves } from './slow_moves.ts'

/** The organisation; the publishers name none. */
export const org = 'default'

/** The databases that have, or may have, its endpoints. */
export const names = ['eu-1', 'eu-2', 'eu-3'] as const

const endpoints = [
  ...['ordered/1', 'ordered/2', 'ordered/3', 'ordered/4', 'single/1', 'single/2'],
  ...['steady/1', 'steady/2', 'slow/1', 'flaky/1'],
]
const PUBLISHERS = 3
/** Transactions a second of each. */
const RATE = 4
const CONSUMERS = 2

/** A database and its worker. */
export interface Database {
  readonly name: string
  readonly server: Server
  readonly workers: Workers
}

export interface SpreadWorld extends AsyncDisposable {
  readonly ledger: Ledger
  readonly source: Database
  readonly targets: ReadonlyMap<string, Database>
  /** The endpoint of the source that publishes to the broker. */
  readonly broker: string
  readonly rabbit: TestRabbitMq
  /** The way of all to RabbitMQ. */
  readonly proxy: TestProxy
  readonly consumers: Consumers
  readonly publishers: Publishers
  readonly receiver: Receiver
  /** The file with the routes. */
  readonly routes: string
  /** Variables with the connection strings of the databases. */
  readonly env: Record<string, string>
}

/** Starts it all; takes about twenty seconds. */
export async function startSpreadWorld(seed: number): Promise<SpreadWorld> {
  await using started = new AsyncDisposableStack()
  ignoreDeadSockets()
  const ledger = new Ledger()
  const disk = started.use(await makeDisk())
  const receiver = startReceivers(ledger, seed, 'idempotency-key')
  started.defer(() => receiver.close())

  async function startDatabase(name: string): Promise<Database> {
    const server = await Server.start(join(disk.path, name))
    started.defer(() => server.end())
    await server.surely('its settings', async (sql) => {
      await sql`select outbox.set_setting('egress.allow_http', 'true'),
        outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`
      await sql.unsafe(slowMoves).simple()
    })
    const workers = startWorkers(server.url('postgres'), 1)
    started.defer(() => workers.stop())
    return { name, server, workers }
  }

  const [rabbit, source, ...databases] = await Promise.all([
    startRabbitMq().then((rabbit) => started.use(rabbit)),
    ...['source', ...names].map(startDatabase),
  ])
  const [first] = databases
  if (source === undefined || first === undefined) throw new Error('no databases')
  const proxy = started.use(startProxy(rabbit.port))
  const [login, secret, path] = [rabbit.user, rabbit.password, rabbit.vhost].map(encodeURIComponent)
  const url = `amqp://${login}:${secret}@127.0.0.1:${proxy.port}/${path}`
  await createQueue(url)
  const broker = await createBrokerEndpoint(source, rabbit, proxy.port)
  await createTargets(first.server, ledger, receiver.url, endpoints)
  const routes = join(disk.path, 'routes.json')
  const urls = databases.map(({ name, server }) => ({ name, url: server.url('postgres') }))
  const consumers = createConsumers({
    count: CONSUMERS,
    routes,
    env: { OUTHOOK_RABBITMQ_URL: url },
    databases: urls,
  })
  started.defer(() => consumers.stop())
  const publishers = startPublishers({
    url: source.server.url('postgres'),
    ledger,
    count: PUBLISHERS,
    rate: RATE,
    seed,
  })
  started.defer(() => publishers.stop())

  const all = started.move()
  return {
    ledger,
    source,
    targets: new Map(databases.map((database) => [database.name, database])),
    broker,
    rabbit,
    proxy,
    consumers,
    publishers,
    receiver,
    routes,
    env: Object.fromEntries(
      urls.map(({ name, url }) =>
        [variablePrefix + name.toUpperCase().replaceAll('-', '_'), url] as const
      ),
    ),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** With it, only one process at a time routes the messages, in their order. */
async function createQueue(url: string): Promise<void> {
  const connection = await connectRabbitMq({ url, ca: null })
  const channel = await connection.createChannel()
  await channel.assertQueue('outhook', {
    durable: true,
    arguments: { 'x-single-active-consumer': true },
  })
  await connection.close()
}

async function createBrokerEndpoint(
  { server }: Database,
  { user, password, vhost }: TestRabbitMq,
  port: number,
): Promise<string> {
  const broker = {
    url: `amqp://127.0.0.1:${port}/${encodeURIComponent(vhost)}`,
    exchange: '',
    routing_key: 'outhook',
  }
  let id = ''
  await server.surely('the endpoint of the broker', async (sql) => {
    const [row] = await sql<{ id: string }[]>`
      select outbox.create_broker_endpoint('rabbitmq', ${sql.json(broker)},
        ${sql.json({ username: user, password })}, '{*}', ${org}, p_ordering => 'partition')
        ->> 'id' as id`
    id = row?.id ?? ''
    // Attempts that come soon after the broker is there again.
    const retry = { strategy: 'fixed', base_delay: 0.5, max_retries: 50, jitter: true }
    await sql`
      update outbox.endpoint set breaker_open_ms = 1000, retry = ${
      sql.json(retry)
    } where id = ${id}`
  })
  return id
}
