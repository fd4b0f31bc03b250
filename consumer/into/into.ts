import { systemClock } from '../../functions/_shared/base/clock.ts'
import type { Log } from '../../functions/_shared/base/log.ts'
import { orgHeader } from '../../functions/_shared/senders/broker/record.ts'
import { type Inbox, openInbox } from '../inbox.ts'
import type { KafkaAccess } from '../kafka/connect.ts'
import type { Processed } from '../message.ts'
import type { RabbitMqAccess } from '../rabbitmq/connect.ts'
import type { BatchDeps } from './batch.ts'
import { headerText } from './event.ts'
import { databasesOf, type Routes } from './routes.ts'

export type IntoOptions = {
  source:
    | { kind: 'queue'; name: string; access: RabbitMqAccess }
    | { kind: 'topic'; name: string; access: KafkaAccess }
  /** The databases in the order of their names in `routes`. */
  databases: readonly { name: string; url: string }[]
  routes: Routes
  /** The name in the inbox of each database, and the start of Kafka's groups. */
  consumer: string
  dlq: string
  /** How many events are published in one transaction. */
  most: number
  timeoutMs: number
  log: Log
  stop: AbortSignal
  /** Faster in tests. */
  clock?: BatchDeps['clock']
}

/** What became of the messages of each database since the start. */
export type Totals = Record<string, { taken: number; known: number; dead: number }>

/** The queue or group of a database. */
export const laneName = (source: string, database: string): string => `${source}.${database}`

/**
 * Publishes each event of a queue or topic in the databases of its organisation, once in each, until `stop`;
 * batches that have begun are finished.
 */
export async function consumeInto(options: IntoOptions): Promise<Totals> {
  const { source, databases, consumer, timeoutMs } = options
  const totals: Totals = {}
  const inboxes: Inbox[] = []
  const lanes = databases.map(({ name, url }): Lane => {
    // The second connection reports a dead letter while the next batch is published.
    const inbox = openInbox({ url, consumer, timeoutMs, concurrency: 2 })
    inboxes.push(inbox)
    const counts = totals[name] = { taken: 0, known: 0, dead: 0 }
    return {
      name,
      deps: depsOf(name, inbox, options),
      processed(result): void {
        if (result === 'stopped') return
        counts[result === 'done' ? 'taken' : result]++
      },
    }
  })
  try {
    // Each client is loaded only if it is used.
    await (source.kind === 'queue'
      ? fromQueue(source.name, source.access, lanes, options)
      : fromTopic(source.name, source.access, lanes, options))
  } finally {
    await Promise.all(inboxes.map((inbox) => inbox.close()))
  }
  return totals
}

type Lane = {
  name: string
  deps: Omit<BatchDeps, 'publishDead'>
  processed(result: Processed): void
}

function depsOf(
  name: string,
  inbox: Inbox,
  { dlq, log, clock = systemClock }: IntoOptions,
): Omit<BatchDeps, 'publishDead'> {
  return {
    name,
    take: (events) => inbox.take(events),
    report: (dead) => inbox.report(dead, dlq),
    clock,
    random: Math.random,
    log,
  }
}

async function fromQueue(
  queue: string,
  access: RabbitMqAccess,
  lanes: readonly Lane[],
  { routes, dlq, most, log, stop, clock = systemClock }: IntoOptions,
): Promise<void> {
  const { connectRabbitMq } = await import('../rabbitmq/connect.ts')
  const { routeQueue } = await import('./rabbitmq/route.ts')
  const { consumeLane } = await import('./rabbitmq/lane.ts')
  const connect = (): ReturnType<typeof connectRabbitMq> => connectRabbitMq(access)
  await Promise.all([
    routeQueue({
      connect,
      queue,
      lanes: lanes.map(({ name }) => laneName(queue, name)),
      lanesOf({ properties }): string[] {
        const headers: Record<string, unknown> = properties.headers ?? {}
        // Without an organisation it becomes a dead letter there.
        const names = databasesOf(routes, headerText(headers[orgHeader]) ?? '')
        return names.map((name) => laneName(queue, name))
      },
      prefetch: 4 * most,
      clock,
      log,
      stop,
    }),
    ...lanes.map(({ name, deps, processed }) =>
      consumeLane({ connect, lane: laneName(queue, name), queue, dlq, most, deps, processed, stop })
    ),
  ])
}

async function fromTopic(
  topic: string,
  access: KafkaAccess,
  lanes: readonly Lane[],
  { routes, consumer, dlq, most, log, stop }: IntoOptions,
): Promise<void> {
  const { connectKafka } = await import('../kafka/connect.ts')
  const { consumeTopic } = await import('../kafka/consume.ts')
  const { takeOwn } = await import('./kafka.ts')
  const kafka = connectKafka(access, log)
  await Promise.all(lanes.map(({ name, deps, processed }) =>
    consumeTopic({
      kafka,
      topic,
      dlq,
      group: laneName(consumer, name),
      concurrency: 4,
      fromBeginning: true,
      deps: { ...deps, handle: () => Promise.reject(new Error('records are handled in batches')) },
      several: {
        most,
        process: (received, more, over) =>
          takeOwn(received, { ...more, ...deps }, {
            isOwn: (org) => databasesOf(routes, org).includes(name),
            processed,
            stop: over,
          }),
      },
      stop,
    })
  ))
}
