/**
 * What an event costs the database that publishes it: as one delivery to RabbitMQ, from where `outhook consume`
 * takes it into another database, and as ten webhooks. CPU of its Postgres and write-ahead log, from publishing to
 * the last recorded delivery.
 *
 *   npx -y deno@2.9.6 run -A tests/bench/into.ts [--events 5000]
 */

import { parseArgs } from 'node:util'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { createRabbitMqEndpoint } from '../_support/brokers/create.ts'
import { startRabbitMq } from '../_support/brokers/rabbitmq.ts'
import { openQueue } from '../_support/brokers/read.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'
import { cpuOfTree } from './run/proc.ts'

const { values } = parseArgs({ options: { events: { type: 'string', default: '5000' } } })
const events = Number(values.events)

type Cost = { cpuUs: number; walBytes: number }

async function measure({ sql, admin, stack }: TestOuthook, type: string): Promise<Cost> {
  const postmaster = async (): Promise<number> => {
    const [row] = await admin`select current_setting('data_directory') as folder`
    return Number((await Deno.readTextFile(`${row?.folder}/postmaster.pid`)).split('\n')[0])
  }
  const pid = await postmaster()
  const wal = async (): Promise<number> => {
    const [row] = await admin`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`
    return Number(row?.bytes)
  }
  const [cpu, bytes] = [cpuOfTree(pid), await wal()]
  const worker = startWorker(stack.dbUrl)
  await sql`select outbox.publish_many((
    select jsonb_agg(jsonb_build_object('type', ${type}::text, 'payload', jsonb_build_object('n', n)))
    from generate_series(b, b + 499) n))
    from generate_series(0, ${events}::integer - 1, 500) b`
  const isDone = await waitUntil(async () => {
    const [row] = await sql`
      select not exists (select from outbox.unrouted) and not exists (select from outbox.delivery)
        as done`
    return row?.done
  }, { timeoutMs: 300_000, everyMs: 50 })
  worker.kill('SIGTERM')
  await worker.ended
  if (!isDone) throw new Error('the worker did not finish')
  return {
    cpuUs: (cpuOfTree(pid) - cpu) * 1_000_000 / events,
    walBytes: (await wal() - bytes) / events,
  }
}

const outhook = await startOuthook({ functions: [] })
const rabbit = await startRabbitMq()
await using _queue = await openQueue(rabbit, 'bench', { exchange: 'amq.topic', pattern: 'into.*' })
await createRabbitMqEndpoint(outhook, rabbit, { eventTypes: ['into.broker'] })
for (let n = 0; n < 10; n++) {
  await outhook.createEndpoint(`/hooks/${n}`, { p_event_types: ['into.direct'] })
}
// The first deliveries prepare connections and plans.
await measure(outhook, 'into.broker')
await measure(outhook, 'into.direct')
const one = await measure(outhook, 'into.broker')
const ten = await measure(outhook, 'into.direct')
for (
  const [name, { cpuUs, walBytes }] of [['one to RabbitMQ', one], ['ten webhooks', ten]] as const
) {
  print(
    `${name.padEnd(16)} ${Math.round(cpuUs)} µs of Postgres, ${
      Math.round(walBytes)
    } bytes of WAL an event`,
  )
}
print(
  `ratio            ${(one.cpuUs / ten.cpuUs).toFixed(2)} of the CPU, ` +
    `${(one.walBytes / ten.walBytes).toFixed(2)} of the WAL (${events} events)`,
)
await outhook.stop()
await rabbit[Symbol.asyncDispose]()
