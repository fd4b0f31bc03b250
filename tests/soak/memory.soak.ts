/** A worker under load: its memory does not grow with what it delivers, nor its sockets with the endpoints. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { workerOptions } from '../../functions/deliver/options.ts'
import { print } from '../../supabase/local/print.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startSink, startTaskWorker, type Watched } from './_support/processes.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const deliveries = isShort ? 50_000 : 1_000_000
const endpoints = isShort ? 1_000 : 5_000
const patienceMs = isShort ? 180_000 : 3_600_000

interface Bench {
  stack: Stack
  sql: postgres.Sql
  sink: Watched
  worker: Watched
}

async function withBench(body: (bench: Bench) => Promise<void>): Promise<void> {
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free', functions: [], fsync: false })
  const sql = postgres(stack.dbUrl, { max: 2, onnotice: () => {} })
  const sink = await startSink()
  const worker = startTaskWorker(stack.dbUrl)
  try {
    await body({ stack, sql, sink, worker })
    expect(await worker.stop()).toBe(0)
  } finally {
    await worker.stop()
    await sink.stop()
    await sql.end({ timeout: 1 })
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

/** Publishes `count` events in calls of 500, never more than 20,000 ahead of the worker. */
async function publish(sql: postgres.Sql, types: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    await sql`
      select outbox.publish_many(jsonb_agg(jsonb_build_object('type', 'soak.e' || n % ${types},
        'payload', jsonb_build_object('data', repeat('x', 380)))))
      from generate_series(${at}::int, ${at + 499}::int) as n`
    await waitUntil(async () => await openOf(sql) < 20_000, { timeoutMs: patienceMs, everyMs: 100 })
  }
}

async function openOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`
    select (select coalesce(sum(depth), 0) from outbox.gate) + (select count(*) from outbox.unrouted) as n`
  return Number(row?.n)
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

Deno.test(`a worker's memory is flat over ${deliveries} deliveries`, async () => {
  await withBench(async ({ sql, sink, worker }) => {
    for (let n = 0; n < 10; n++) {
      await sql`select outbox.create_endpoint(${`${sink.url}/${n}`}, ${[`soak.e${n}`]},
        p_max_in_flight => 1000, p_quantum => 100)`
    }
    const samples: number[] = []
    const timer = setInterval(() => samples.push(worker.rssMb()), 250)
    await publish(sql, 10, deliveries)
    await waitUntil(async () => await openOf(sql) === 0, { timeoutMs: patienceMs, everyMs: 50 })
    clearInterval(timer)
    const [row] =
      await sql`select count(*)::int as n from outbox.attempt where outcome = 'delivered'`
    expect(row?.n).toBe(deliveries)
    const quarter = Math.floor(samples.length / 4)
    const second = mean(samples.slice(quarter, 2 * quarter))
    const last = mean(samples.slice(-quarter))
    print(
      `  RSS in MB: second quarter ${second.toFixed(0)}, last ${last.toFixed(0)}, most ${
        Math.max(...samples).toFixed(0)
      }, ${samples.length} samples`,
    )
    // V8 lets its heap grow for the first minute or so; the long form is what shows a leak.
    expect(last).toBeLessThan(second * (isShort ? 1.25 : 1.1))
    expect(Math.max(...samples)).toBeLessThan(200)
  })
})

Deno.test(`a worker's sockets are bounded over ${endpoints} endpoints`, async () => {
  await withBench(async ({ sql, sink, worker }) => {
    // Each address of 127.0.0.0/8 is an origin of its own, and one listener serves them all.
    const port = new URL(sink.url).port
    await sql`
      select outbox.create_endpoint(format('http://127.1.%s.%s:%s/', n / 250, n % 250 + 1, ${port}::text),
        array['soak.e' || n]) from generate_series(0, ${endpoints - 1}) as n`
    let most = 0
    const timer = setInterval(() => most = Math.max(most, worker.sockets()), 50)
    await publish(sql, endpoints, endpoints * 4)
    await waitUntil(async () => await openOf(sql) === 0, { timeoutMs: patienceMs, everyMs: 50 })
    clearInterval(timer)
    const [row] = await sql`
      select count(*)::int as n, count(distinct endpoint_id)::int as endpoints from outbox.attempt where outcome = 'delivered'`
    expect(row).toEqual({ n: endpoints * 4, endpoints })
    print(`  at most ${most} sockets`)
    // As many are open as deliveries may be in hand, as many more are being closed, and the
    // database's.
    expect(most).toBeLessThan(2 * workerOptions.maxOutstanding + 20)
    expect(most).toBeGreaterThan(10)
  })
})
