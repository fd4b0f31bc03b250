/** `deno task consume`: passes a broker's messages to a function or a URL, each once. */

import { systemClock } from '../functions/_shared/base/clock.ts'
import { messageOf } from '../functions/_shared/base/errors.ts'
import { createLog } from '../functions/_shared/base/log.ts'
import { runCommand, type Values } from '../supabase/local/command.ts'
import { SetupError } from '../supabase/local/errors.ts'
import { readDatabaseUrl, readKafkaAccess, readRabbitMqAccess } from './access.ts'
import { createHttpHandler } from './http_handler.ts'
import { type Inbox, openInbox } from './inbox.ts'
import type { Handle } from './message.ts'
import { createMetrics, serveMetrics } from './metrics.ts'
import { consumeFlags, type ConsumeOptions, readConsumeOptions } from './options.ts'
import type { ProcessDeps } from './process.ts'
import { stopSignal } from './stop.ts'

const help =
  `Pass the messages of a Kafka topic or a RabbitMQ queue to a function of the database or
to a URL, each once, through the inbox. After six failures a message becomes a dead letter.

  npx -y deno@2.9.6 task consume --topic orders --consumer billing --function public.bill_order
  npx -y deno@2.9.6 task consume --queue orders --consumer billing --url http://127.0.0.1:8080/

  --topic <name>         a Kafka topic; OUTHOOK_KAFKA_BROKERS has host:port of the brokers, _TLS=1,
                         _CA (a file), _SASL (plain, scram-sha-256, scram-sha-512), _USERNAME and
                         _PASSWORD the rest
  --queue <name>         or a RabbitMQ queue; OUTHOOK_RABBITMQ_URL has amqp://user:password@host/vhost
                         (amqps for TLS; host-1,host-2 for the nodes of a cluster), OUTHOOK_RABBITMQ_CA
                         a file of root certificates
  --consumer <name>      the consumer's name in the inbox, and Kafka's group
  --function <name>      a SQL function of one jsonb, called in the inbox's transaction
  --url <url>            or a handler over HTTP; OUTHOOK_CONSUME_SECRET (whsec_…) signs
  --dlq <name>           the topic or queue of dead letters; default <topic or queue>.dlq
  --concurrency <n>      messages (RabbitMQ, 10) or partitions (Kafka, 4) at a time
  --timeout-ms <n>       the time limit of one attempt; default 15000
  --metrics-port <n>     serve metrics for Prometheus at http://…:<n>/metrics
  --metrics-host <name>  the address that serves them; default 127.0.0.1, all: 0.0.0.0
  --from-end             a new Kafka group starts at the end of the topic
  --help                 show this

OUTHOOK_DB_URL is the database with the inbox. Ctrl-C stops it after the messages in flight.`

async function run(values: Values<typeof consumeFlags>): Promise<number> {
  const options = readConsumeOptions(values)
  if (typeof options === 'string') throw new SetupError(`${options}; --help shows more`)
  const env = Deno.env.toObject()
  const log = createLog({ debug: env.OUTHOOK_DEBUG === '1' || env.OUTHOOK_DEBUG === 'true' })
  const { consumer, concurrency, timeoutMs } = options
  const inbox = await asSetup(() =>
    Promise.resolve(openInbox({ url: readDatabaseUrl(env), consumer, timeoutMs, concurrency }))
  )
  try {
    const handle = await openHandler(options, inbox, env.OUTHOOK_CONSUME_SECRET ?? null)
    const stop = stopSignal()
    const metrics = createMetrics(consumer, options.source.name)
    if (options.metricsPort !== null) {
      const address = { hostname: options.metricsHost, port: options.metricsPort }
      await asSetup(() => Promise.resolve(serveMetrics(metrics, address, stop)))
    }
    const deps: Omit<ProcessDeps, 'publishDead'> = {
      handle,
      report: (dead) => inbox.report(dead, options.dlq),
      clock: systemClock,
      random: Math.random,
      log,
      ...options.metricsPort === null ? {} : { metrics },
    }
    const { source, dlq, fromBeginning } = options
    // Each client is loaded only if it is used.
    if (source.kind === 'topic') {
      const access = await asSetup(() => readKafkaAccess(env, Deno.readTextFile))
      const { connectKafka } = await import('./kafka/connect.ts')
      const { consumeTopic } = await import('./kafka/consume.ts')
      const kafka = connectKafka(access, log)
      const topic = source.name
      await consumeTopic({
        kafka,
        topic,
        dlq,
        group: consumer,
        concurrency,
        fromBeginning,
        deps,
        stop,
      })
    } else {
      const access = await asSetup(() => readRabbitMqAccess(env, Deno.readTextFile))
      const { connectRabbitMq } = await import('./rabbitmq/connect.ts')
      const { consumeQueue } = await import('./rabbitmq/consume.ts')
      const connect = (): ReturnType<typeof connectRabbitMq> => connectRabbitMq(access)
      await consumeQueue({ connect, queue: source.name, dlq, concurrency, deps, stop })
    }
    log('info', 'consumer stopped', { topic: source.name, consumer })
    return 0
  } finally {
    await inbox.close()
  }
}

async function openHandler(
  { handler, timeoutMs }: ConsumeOptions,
  inbox: Inbox,
  secret: string | null,
): Promise<Handle> {
  if (handler.kind === 'function') {
    await asSetup(() => inbox.check(handler.name))
    return (message) => inbox.consume(message, handler.name)
  }
  const post = createHttpHandler({ url: handler.name, timeoutMs, secret, wallNow: Date.now })
  return (message, attempt) => inbox.around(message, () => post(message, attempt))
}

/** Shows an error before the first message without a stack trace. */
async function asSetup<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (cause) {
    throw new SetupError(messageOf(cause), { cause })
  }
}

export const main = (): Promise<never> => runCommand({ help, flags: consumeFlags, run })

if (import.meta.main) await main()
