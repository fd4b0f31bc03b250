/**
 * How many events a second a worker delivers to each kind of endpoint, published before it starts,
 * every attempt recorded: webhooks to a receiver of this process, RabbitMQ from Debian's package
 * (durable queue, confirmed), librdkafka's mock cluster (which writes nothing to a disk).
 *
 *   deno run -A tests/bench/brokers.ts [--events 10000] [--keys 500]
 */

import { parseArgs } from 'node:util'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { createKafkaEndpoint, createRabbitMqEndpoint } from '../_support/brokers/create.ts'
import { startKafka, type TestKafka } from '../_support/brokers/kafka.ts'
import { startRabbitMq, type TestRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { openQueue } from '../_support/brokers/read.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000' },
    keys: { type: 'string', default: '500' },
  },
})
const events = Number(values.events)
const keys = Number(values.keys)

type Target = (name: string, ordering: string) => Promise<unknown>

/** Events a second from the worker's first delivery to its last. */
async function measure(outhook: TestOuthook, make: Target, ordering: string): Promise<number> {
  const { sql } = outhook
  const type = `bench.${crypto.randomUUID().slice(0, 8)}`
  await make(type, ordering)
  await sql`update outbox.endpoint set max_in_flight = 1000, quantum = 1000 where status = 'enabled'`
  await sql`select outbox.publish_many((
    select jsonb_agg(jsonb_build_object('type', ${type}::text, 'payload', jsonb_build_object('n', n),
      'partition_key', 'key-' || n % ${keys}::integer) order by n) from generate_series(b, b + 499) n))
    from generate_series(0, ${events}::integer - 1, 500) b`
  const worker = startWorker(outhook.stack.dbUrl)
  const done = async (): Promise<boolean> => {
    const [row] = await sql`
      select not exists (select from outbox.unrouted) and not exists (select from outbox.delivery)
        as done`
    return row?.done
  }
  const isDone = await waitUntil(done, { timeoutMs: 300_000, everyMs: 50 })
  worker.kill('SIGTERM')
  await worker.ended
  if (!isDone) throw new Error('the worker did not finish')
  const [row] = await sql`
    select count(*)::integer as n, extract(epoch from max(a.at) - min(a.at))::float8 as seconds
    from outbox.attempt a join outbox.event e on e.id = a.event_id
    where e.type = ${type} and a.outcome = 'delivered'`
  if (row?.n !== events) throw new Error(`${row?.n} of ${events} events were delivered`)
  return Math.round(row.n / row.seconds)
}

function targets(
  outhook: TestOuthook,
  rabbit: TestRabbitMq,
  kafka: TestKafka,
): Record<string, Target> {
  return {
    webhook: (type, ordering) =>
      outhook.createEndpoint('/hooks/bench', { p_event_types: [type], p_ordering: ordering }),
    rabbitmq: (type, ordering) =>
      createRabbitMqEndpoint(outhook, rabbit, { eventTypes: [type], ordering }),
    kafka: (type, ordering) =>
      createKafkaEndpoint(outhook, kafka, { eventTypes: [type], ordering }),
  }
}

const outhook = await startOuthook({ functions: [] })
const rabbit = await startRabbitMq()
const kafka = await startKafka()
await (await openQueue(rabbit, 'bench', { exchange: 'amq.topic', pattern: 'bench.*' }))
  [Symbol.asyncDispose]()
print(`${events} events, ${keys} keys; deliveries a second`)
for (const [name, make] of Object.entries(targets(outhook, rabbit, kafka))) {
  const none = await measure(outhook, make, 'none')
  const partition = await measure(outhook, make, 'partition')
  print(`${name.padEnd(10)} unordered ${none}, ordered by key ${partition}`)
}
await outhook.stop()
await rabbit[Symbol.asyncDispose]()
kafka[Symbol.dispose]()
