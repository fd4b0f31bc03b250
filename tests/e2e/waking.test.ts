/** A worker that sleeps is woken by the commit of an event: directly and through a pooler in session mode. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type Clock, systemClock } from '../../functions/_shared/base/clock.ts'
import {
  listenForWork,
  type Waker,
  type WakerOptions,
} from '../../functions/_shared/database/waking.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startDeafRelay } from '../_support/deaf_relay.ts'
import { startPgBouncer } from '../_support/pgbouncer.ts'
import { startWorker } from '../_support/worker_process.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ functions: [] })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** A waker that has started, and the lines of its log. */
function listen(
  options: Partial<WakerOptions> = {},
): Waker & { lines: string[] } {
  const lines: string[] = []
  const url = outhook.stack.dbUrl
  const waker = listenForWork({ url, log: (_, line) => lines.push(line), ...options })
  waker.start()
  return Object.assign(waker, { lines })
}

async function isListening(waker: Waker): Promise<boolean> {
  return await waitUntil(() => waker.isListening, { timeoutMs: patienceMs })
}

async function notify(): Promise<void> {
  await outhook.sql`select pg_notify('outbox_work', '')`
}

Deno.test('listenForWork() wakes its subscribers until they unsubscribe', async () => {
  const waker = listen()
  try {
    let woken = 0
    const unsubscribe = waker.subscribe(() => woken++)
    expect(await isListening(waker)).toBe(true)
    // Once when it began to listen.
    expect(woken).toBe(1)
    await notify()
    expect(await waitUntil(() => woken === 2, { timeoutMs: patienceMs })).toBe(true)
    unsubscribe()
    let other = 0
    waker.subscribe(() => other++)
    await notify()
    expect(await waitUntil(() => other === 1, { timeoutMs: patienceMs })).toBe(true)
    expect(woken).toBe(2)
  } finally {
    await waker.close()
  }
  expect(waker.isListening).toBe(false)
})

Deno.test('listenForWork() listens again after its connection was ended', async () => {
  const waker = listen({ retryMs: 10 })
  try {
    expect(await isListening(waker)).toBe(true)
    let woken = 0
    waker.subscribe(() => woken++)
    await outhook.admin`
      select pg_terminate_backend(a.pid) from pg_stat_activity a
      where a.query like '%listen outbox_work' and a.pid <> pg_backend_pid()`
    // It listens again, and tells of what may have come in between.
    expect(await waitUntil(() => woken === 1, { timeoutMs: patienceMs })).toBe(true)
    expect(waker.isListening).toBe(true)
    expect(waker.lines).toEqual([
      'the worker is woken by commits',
      'the worker polls only: the connection was lost',
      'the worker is woken by commits',
    ])
  } finally {
    await waker.close()
  }
})

/** The system's clock, which notes the pauses that it is asked for. */
function notedClock(): { clock: Clock; pauses: number[] } {
  const pauses: number[] = []
  const after: Clock['after'] = (ms, run) => {
    pauses.push(ms)
    return systemClock.after(ms, run)
  }
  return { clock: { ...systemClock, after }, pauses }
}

Deno.test('listenForWork() listens behind a pooler in session mode', async () => {
  const { dbUrl } = outhook.stack
  await using pooler = await startPgBouncer({ dbUrl, mode: 'session', servers: 4 })
  const waker = listen({ url: pooler.url, testMs: patienceMs })
  try {
    let woken = 0
    waker.subscribe(() => woken++)
    expect(await isListening(waker)).toBe(true)
    await notify()
    expect(await waitUntil(() => woken === 2, { timeoutMs: patienceMs })).toBe(true)
  } finally {
    await waker.close()
  }
})

Deno.test('listenForWork() does not listen behind a pooler in transaction mode, and tries rarely', async () => {
  const { dbUrl } = outhook.stack
  await using pooler = await startPgBouncer({ dbUrl, mode: 'transaction', servers: 4 })
  const { clock, pauses } = notedClock()
  const waker = listen({ url: pooler.url, clock, testMs: patienceMs })
  try {
    const hasGivenUp = (): boolean => pauses.includes(300_000)
    expect(await waitUntil(hasGivenUp, { timeoutMs: patienceMs })).toBe(true)
    expect(waker.isListening).toBe(false)
    expect(waker.lines).toEqual([
      'the worker polls only: no notification arrives over this connection',
    ])
    // No session of the pooler is left with a LISTEN.
    const clients = [postgres(pooler.url, { max: 1 }), postgres(pooler.url, { max: 1 })]
    try {
      for (const sql of clients) await sql.unsafe('begin').simple()
      for (const sql of clients) expect(await sql`select pg_listening_channels()`).toHaveLength(0)
    } finally {
      await Promise.all(clients.map((sql) => sql.end({ timeout: 1 })))
    }
  } finally {
    await waker.close()
  }
})

Deno.test('close() ends both connections, also while the notification of their test is awaited', async () => {
  const { dbUrl } = outhook.stack
  const connections = async (): Promise<number> => {
    const [row] = await outhook.admin<{ n: number }[]>`
      select count(*)::integer as n from pg_stat_activity a
      where a.query like '%outbox_test%' and a.pid <> pg_backend_pid()`
    return row?.n ?? 0
  }
  await using relay = startDeafRelay(dbUrl)
  const waker = listen({ url: relay.url, testMs: patienceMs })
  expect(await waitUntil(async () => await connections() === 2, { timeoutMs: patienceMs })).toBe(
    true,
  )
  await waker.close()
  expect(await waitUntil(async () => await connections() === 0, { timeoutMs: patienceMs })).toBe(
    true,
  )
})

Deno.test('listenForWork() tries again until there is a database', async () => {
  const url = new URL(outhook.stack.dbUrl)
  url.pathname = '/later'
  const waker = listen({ url: url.href, retryMs: 50 })
  try {
    await outhook.admin`create database later`
    expect(await isListening(waker)).toBe(true)
  } finally {
    await waker.close()
    await outhook.admin`drop database later with (force)`
  }
})

Deno.test('a worker that sleeps gets an event long before its next poll', async () => {
  // The longest poll of an idle worker: 15 s.
  await outhook.sql`select outbox.set_setting('worker.poll_interval_ms', '60000')`
  await outhook.createEndpoint('/hooks/woken', { p_event_types: ['worker.woken'] })
  const worker = startWorker(outhook.stack.dbUrl)
  const asleep = async (): Promise<boolean> => {
    const [row] = await outhook.admin`
      select s.last_value = 1
        and (select max(r.polled_at) < now() - interval '6 s' from outbox.run r) as asleep
      from outbox.workers_asleep s`
    return row?.asleep
  }
  try {
    // After 5 s without work it polls rarely.
    expect(await waitUntil(asleep, { timeoutMs: patienceMs })).toBe(true)
    const begun = performance.now()
    const id = await outhook.publish('worker.woken')
    await outhook.requestsOf(id, 1)
    expect(performance.now() - begun).toBeLessThan(5_000)
  } finally {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    await outhook.sql`select outbox.set_setting('worker.poll_interval_ms', '1000')`
  }
})
