/** A cluster of RabbitMQ whose nodes are killed under load: each event is once in its target, in the order of its key. */

import { expect } from '@std/expect'
import { connectRabbitMq } from '../../consumer/rabbitmq/connect.ts'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startProxy } from '../_support/brokers/proxy.ts'
import { type RabbitMqCluster, startRabbitMqCluster } from '../_support/brokers/rabbitmq_cluster.ts'
import type { RabbitMqNode } from '../_support/brokers/rabbitmq_node.ts'
import { patienceMs } from '../_support/patience.ts'
import { startWorker } from '../_support/worker_process.ts'
import type { ConsumerProcess } from '../consumer/_support/consumer_process.ts'
import { startInto } from '../consumer/_support/into_command.ts'
import { startTarget, type Target } from '../consumer/_support/targets.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const orgs = ['org-1', 'org-2', 'org-3', 'org-4']
const names = ['eu-1', 'eu-2']
/** As many events of each organisation in a statement. */
const perOrg = 10
/** In the short form, which has other tests beside it, so slow that the consumers keep up. */
const pauseMs = isShort ? 300 : 100

/** The node that is killed: each of them in its turn, or in the short form one that is the first two. */
const roles = isShort
  ? ['the leader and the node of the publisher'] as const
  : ['the leader', 'the node of the publisher', 'the node of the consumer'] as const

/** A kill, with its time as the databases have it. */
type Kill = { role: string; at: number }

async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  if (await waitUntil(isTrue, { timeoutMs: patienceMs, everyMs: 100 })) return
  throw new Error(`waited in vain until ${what}`)
}

/** Publishes until it is stopped, and then gives the ledger: what was committed. */
function startPublisher({ sql }: Target): { count(): number; stop(): Promise<number[]> } {
  let isOver = false
  let n = 0
  async function run(): Promise<void> {
    while (!isOver) {
      await sql`
        select outbox.publish_many((
          select jsonb_agg(jsonb_build_object('type', 'order.paid',
            'org_id', (${orgs}::text[])[1 + n % 4], 'partition_key', 'k' || n % 7,
            'body', jsonb_build_object('id', n)::text) order by n)
          from generate_series(${n}::integer, ${n + orgs.length * perOrg - 1}::integer) n))`
      n += orgs.length * perOrg
      await waitUntil(() => isOver, { timeoutMs: pauseMs, everyMs: 20 })
    }
  }
  const running = run()
  return {
    count: () => n,
    async stop(): Promise<number[]> {
      isOver = true
      await running
      return Array.from({ length: n }, (_, number) => number)
    },
  }
}

/** The URL of one or several nodes, as the consumer takes it. */
function urlOf({ user, password, vhost }: RabbitMqCluster, ...nodes: RabbitMqNode[]): string {
  const [login, secret, path] = [user, password, vhost].map(encodeURIComponent)
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join()
  return `amqp://${login}:${secret}@${hosts}/${path}`
}

/** Its leader is the node by which it is made. */
async function createQueue(cluster: RabbitMqCluster, leader: RabbitMqNode): Promise<void> {
  const connection = await connectRabbitMq({ url: urlOf(cluster, leader), ca: null })
  const channel = await connection.createChannel()
  await channel.assertQueue('outhook', {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-quorum-initial-group-size': 3,
      'x-single-active-consumer': true,
    },
  })
  await connection.close()
}

async function createEndpoints(
  { sql }: Target,
  port: number,
  { user, password, vhost }: RabbitMqCluster,
): Promise<void> {
  await sql`select outbox.set_setting('egress.allow_http', 'true'),
    outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]')`
  const broker = {
    url: `amqp://127.0.0.1:${port}/${encodeURIComponent(vhost)}`,
    exchange: '',
    routing_key: 'outhook',
  }
  for (const org of orgs) {
    await sql`select outbox.create_broker_endpoint('rabbitmq', ${sql.json(broker)},
      ${sql.json({ username: user, password })}, '{order.*}', ${org}, p_ordering => 'partition')`
  }
}

async function storedIn(targets: readonly Target[]): Promise<number> {
  const counts = await Promise.all(targets.map(async ({ sql }) => {
    const [row] = await sql`
      select count(*)::integer as n from outbox.event where type = 'order.paid'`
    return row?.n
  }))
  return counts.reduce((sum, n) => sum + n, 0)
}

/** Throws unless each number of the ledger is once in one target, and each key in the order of the ledger. */
async function checkLedger(ledger: readonly number[], targets: readonly Target[]): Promise<void> {
  const stored: number[] = []
  const homes = new Map<string, string>()
  for (const target of targets) {
    const lasts = new Map<string, number>()
    for (const { org, key, n } of await target.events()) {
      stored.push(n)
      expect([org, homes.get(org) ?? target.name]).toEqual([org, target.name])
      homes.set(org, target.name)
      expect(n).toBeGreaterThan(lasts.get(`${org} ${key}`) ?? -1)
      lasts.set(`${org} ${key}`, n)
    }
  }
  expect(stored.toSorted((left, right) => left - right)).toEqual(ledger)
}

async function end(process: Pick<ConsumerProcess, 'kill' | 'ended'>): Promise<void> {
  try {
    process.kill('SIGKILL')
  } catch {
    // It has ended.
  }
  await process.ended
}

/** The longest time without any of these from a kill to the next one, in seconds; all in milliseconds since 1970. */
function gapAfter(
  { at }: Kill,
  next: Pick<Kill, 'at'> | undefined,
  times: readonly number[],
): number {
  const end = next?.at ?? Infinity
  const sorted = times.toSorted((left, right) => left - right)
  const gaps = sorted.slice(1)
    .map((time, before) => time > at && time < end ? time - (sorted[before] ?? time) : 0)
  return Math.max(0, ...gaps) / 1_000
}

async function timesOf(sql: Target['sql'], what: 'stored' | 'confirmed'): Promise<number[]> {
  const rows = what === 'stored'
    ? await sql`select extract(epoch from created_at) * 1000 as ms from outbox.event
        where type = 'order.paid'`
    : await sql`select extract(epoch from at) * 1000 as ms from outbox.attempt
        where outcome = 'delivered'`
  return rows.map(({ ms }) => Number(ms))
}

Deno.test('events pass a RabbitMQ cluster once and in order while its nodes are killed one by one', async () => {
  await using started = new AsyncDisposableStack()
  const [cluster, source, ...targets] = await Promise.all([
    startRabbitMqCluster().then((cluster) => started.use(cluster)),
    ...['source', ...names].map(async (name) => started.use(await startTarget(name))),
  ])
  if (source === undefined) throw new Error('no source')
  const [first, second, third] = cluster.nodes
  await createQueue(cluster, first)
  // It stands for the load balancer of a cluster. In the full form the publisher is not at the leader.
  const order = isShort ? [first, second, third] : [second, third, first]
  using balancer = startProxy(...order.map(({ port }) => port))
  await createEndpoints(source, balancer.port, cluster)
  const worker = startWorker(source.directUrl)
  const env = { OUTHOOK_RABBITMQ_URL: urlOf(cluster, ...cluster.nodes) }
  const consumer = startInto({ queue: 'outhook', into: names, batch: 20 }, { env }, targets)
  const publisher = startPublisher(source)
  const kills: Kill[] = []

  async function nodeOf(role: string): Promise<RabbitMqNode> {
    const leader = (await cluster.queue('outhook', first))?.leader
    const [ofPublisher] = await cluster.clientsAt('outhook', first)
    const [ofConsumer] = await cluster.clientsAt('amqplib', first)
    if (role === 'the leader') expect(ofPublisher).not.toBe(leader)
    if (isShort) expect(ofPublisher).toBe(leader)
    const name = role.includes('the leader')
      ? leader
      : role === 'the node of the publisher'
      ? ofPublisher
      : ofConsumer
    const node = cluster.nodes.find((node) => node.name === name)
    if (node === undefined) throw new Error(`${role} is ${name}`)
    return node
  }

  try {
    await until('events come', async () => await storedIn(targets) > 200)
    for (const role of roles) {
      const node = await nodeOf(role)
      const published = publisher.count()
      kills.push({ role, at: Date.now() })
      await node.stop({ hard: true })
      await until(
        `what is published after ${role} was killed comes`,
        async () => await storedIn(targets) > published + 200,
      )
      await node.start()
      await until(
        'the killed node has a copy again',
        async () => (await cluster.queue('outhook', node))?.online.length === 3,
      )
      const alone = publisher.count()
      await until('events come', async () => await storedIn(targets) > alone + 200)
    }
    const ledger = await publisher.stop()
    await until('all is there', async () => await storedIn(targets) >= ledger.length)
    for (const queue of ['outhook', ...names.map((name) => `outhook.${name}`)]) {
      await until(`${queue} is empty`, async () => {
        const state = await cluster.queue(queue, second)
        expect([queue, state?.type]).toEqual([queue, 'quorum'])
        return state?.messages === 0
      })
    }
    consumer.kill('SIGTERM')
    worker.kill('SIGTERM')
    expect([await consumer.ended, await worker.ended]).toEqual([0, 0])
    await checkLedger(ledger, targets)
    expect(consumer.lines.filter((line) => line.includes('dead letter'))).toEqual([])
    const [row] = await source.sql`select count(*)::integer as n from outbox.dead_letter`
    expect(row?.n).toBe(0)
    const confirmed = await timesOf(source.sql, 'confirmed')
    const stored = await Promise.all(targets.map(({ sql }) => timesOf(sql, 'stored')))
    for (const [place, kill] of kills.entries()) {
      const next = kills[place + 1]
      print(
        `  ${kill.role} killed: ${
          gapAfter(kill, next, confirmed).toFixed(1)
        } s without a confirmation, ` +
          `${
            Math.max(...stored.map((times) => gapAfter(kill, next, times))).toFixed(1)
          } s without an event in one of the targets`,
      )
    }
    print(`  ${ledger.length} events, each once in its target`)
  } catch (cause) {
    const tails = [consumer.lines, worker.log].map((lines) => lines.slice(-10).join('\n'))
    throw new Error(tails.join('\n--\n'), { cause })
  } finally {
    await publisher.stop()
    await Promise.all([consumer, worker].map(end))
  }
})
